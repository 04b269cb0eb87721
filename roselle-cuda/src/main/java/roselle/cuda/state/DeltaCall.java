package roselle.cuda.state;

import roselle.backend.memory.Rows;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.DeltaNet;
import roselle.backend.operation.DeltaRule;

/** One call of {@link roselle.backend.operation.Operations#deltaRule}, without the cache. */
public record DeltaCall(Rows query, Rows key, Rows value, Rows a, Rows b, DeltaRule rule, Rows output) {
    /** Of a net, with queries, keys and values before they are convolved. */
    static DeltaCall of(DeltaNet net) {
        DeltaHeads heads = net.rule().heads();
        Rows mixed = net.mixed();
        return new DeltaCall(
                mixed.columns(0, heads.keys()),
                mixed.columns(heads.keys(), heads.keys()),
                mixed.columns(2 * heads.keys(), heads.values()),
                net.a(),
                net.b(),
                net.rule(),
                net.attended());
    }
}
