package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;

/** The fused operations as their parts, one after the other: for a device that does not fuse them, or not these rows. */
public final class UnfusedOperations {
    private UnfusedOperations() {}

    /** {@link Operations#normedLinear} as a norm and a product. */
    public static void normedLinear(
            Operations parts,
            Rows input,
            Norm norm,
            Rows normed,
            Weight weight,
            Epilogue epilogue,
            Rows output,
            int rows) {
        parts.norm(input, norm, normed, rows);
        parts.linear(normed, weight, epilogue, output, rows);
    }

    /** {@link Operations#gatedLinear} as a product, with its norm where there is one, and a gated activation. */
    public static void gatedLinear(
            Operations parts, Rows input, @Nullable Norm norm, Rows normed, GatedLinear product, int rows) {
        if (norm == null) {
            parts.linear(input, product.gateAndUp(), product.epilogue(), product.both(), rows);
        } else {
            parts.normedLinear(input, norm, normed, product.gateAndUp(), product.epilogue(), product.both(), rows);
        }
        parts.gatedActivation(product.gates(), product.ups(), product.gate(), product.gates(), rows);
    }

    /** {@link Operations#adaptedGatedLinear} as a product, what adapters add to it, and a gated activation. */
    public static void adaptedGatedLinear(Operations parts, Rows input, GatedLinear product, int rows) {
        parts.linear(input, product.gateAndUp(), product.epilogue(), product.both(), rows);
        parts.adapt(input, product.gateAndUp(), product.epilogue().scale(), product.both());
        parts.gatedActivation(product.gates(), product.ups(), product.gate(), product.gates(), rows);
    }

    /** {@link Operations#gateNormed} as norms and a gated activation. */
    public static void gateNormed(
            Operations steps, Rows gate, Rows parts, Norm norm, Gate kind, Rows output, int rows) {
        steps.norm(parts, norm, parts, rows * (output.columns() / parts.columns()));
        steps.gatedActivation(gate, output, kind, output, rows);
    }

    /** {@link Operations#feedExperts} as products, a gated activation where there are gates, and sums. */
    public static void feedExperts(
            Operations parts, Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        compute(parts, input, experts, routing, rows);
        parts.combineExperts(experts.outputs(), routing, sum.scale(), sum.adds(), sum.output(), rows);
        if (sum.shared() != null && sum.sharedGate() != null) {
            parts.addGated(sum.shared(), sum.sharedGate(), sum.scale(), sum.output(), rows);
        }
    }

    /** {@link Operations#feedExperts} without the sums. */
    public static void compute(Operations parts, Rows input, ExpertProducts experts, Routing routing, int rows) {
        Rows gates = experts.gates();
        parts.groupedLinear(input, experts.gateAndUp(), routing, experts.both(), rows); // [choices, 2 * size]
        if (experts.ups() != null) {
            parts.gatedActivation(gates, experts.ups(), experts.gate(), gates, rows * routing.chosen());
        }
        parts.groupedLinear(gates, experts.down(), routing, experts.outputs(), rows);
    }

    /** {@link Operations#deltaNet} as a convolution, a rule, and norms with gates. */
    public static void deltaNet(Operations parts, DeltaNet net, KvCache cache, int rows) {
        parts.convolve(net.mixed(), net.convolution(), cache, net.convolved());
        parts.deltaRule(net.query(), net.key(), net.value(), net.a(), net.b(), net.rule(), cache, net.attended());
        parts.gateNormed(net.gates(), net.heads(), net.norm(), net.gate(), net.attended(), rows);
    }

    /** {@link Operations#appendAndAttend} as an append and an attention. */
    public static void appendAndAttend(
            Operations parts, Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache, Rows output) {
        parts.ropeAndAppendKv(query, key, value, layer, cache);
        parts.attention(query, layer, cache, output);
    }
}
