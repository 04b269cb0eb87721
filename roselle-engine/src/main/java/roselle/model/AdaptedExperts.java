package roselle.model;

import static java.util.Objects.requireNonNull;

import roselle.backend.memory.Rows;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.Operations;

/** Experts by their parts, between which adapters add. */
final class AdaptedExperts {
    private AdaptedExperts() {}

    /**
     * What {@link Operations#feedExperts} does, with what adapters add to its products.
     *
     * @param each whether they may add to every expert; else to a shared one in the stack alone
     */
    static void feed(Operations operations, Layer.Experts experts, boolean each, Rows input, int rows) {
        ExpertProducts products = experts.products();
        Layer.LastChoice last = experts.last();
        operations.groupedLinear(input, products.gateAndUp(), experts.routing(), products.both(), rows);
        if (each) {
            operations.adaptExperts(input, products.gateAndUp(), experts.routing(), products.both(), rows);
        } else if (last != null) {
            operations.adapt(input, products.gateAndUp().experts(), 1f, last.both());
        }
        int choices = rows * experts.routing().chosen();
        Rows ups = requireNonNull(products.ups());
        operations.gatedActivation(products.gates(), ups, products.gate(), products.gates(), choices);
        operations.groupedLinear(products.gates(), products.down(), experts.routing(), products.outputs(), rows);
        if (each) {
            operations.adaptExperts(products.gates(), products.down(), experts.routing(), products.outputs(), rows);
        } else if (last != null) {
            operations.adapt(last.gates(), products.down().experts(), 1f, last.output());
        }
        sum(operations, experts, rows);
    }

    /** The sum of what the chosen experts gave, and of the shared one where it counts among them. */
    static void sum(Operations operations, Layer.Experts experts, int rows) {
        ExpertSum sum = experts.sum();
        Rows given = experts.products().outputs();
        operations.combineExperts(given, experts.routing(), sum.scale(), sum.adds(), sum.output(), rows);
        if (sum.shared() != null && sum.sharedGate() != null) {
            operations.addGated(sum.shared(), sum.sharedGate(), sum.scale(), sum.output(), rows);
        }
    }
}
