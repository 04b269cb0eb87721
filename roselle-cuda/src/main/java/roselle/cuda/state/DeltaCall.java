package roselle.cuda.state;

import roselle.backend.memory.Rows;
import roselle.backend.operation.DeltaRule;

/** One call of {@link roselle.backend.operation.Operations#deltaRule}, without the cache. */
public record DeltaCall(Rows query, Rows key, Rows value, Rows a, Rows b, DeltaRule rule, Rows output) {}
