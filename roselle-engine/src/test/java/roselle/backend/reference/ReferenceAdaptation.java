package roselle.backend.reference;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.AdapterPart.Use;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.Routing;
import roselle.backend.step.StepInputs;

/** What the adapters of a step change, row by row. */
final class ReferenceAdaptation {
    private final StepInputs step;

    ReferenceAdaptation(StepInputs step) {
        this.step = step;
    }

    /** The adapter of a row; null for none. */
    private @Nullable ReferenceAdapter adapter(int row) {
        int s = 0;
        while (step.rowStart[s + 1] <= row) {
            s++;
        }
        return step.adapter[s] instanceof ReferenceAdapter adapter ? adapter : null;
    }

    void add(Rows input, Weight weight, float scale, Rows output) {
        for (int r = 0; r < step.rows; r++) {
            ReferenceAdapter adapter = adapter(r);
            if (adapter != null) {
                float[] x = ReferenceBuffer.row(input, r);
                float[] before = ReferenceBuffer.row(output, r);
                ReferenceOperations.store(
                        output, r, i -> before[i] + scale * adapter.sum(weight, Use.PRODUCT, 0, i, x));
            }
        }
    }

    void changeTable(Weight table, float scale, Rows output) {
        for (int r = 0; r < step.rows; r++) {
            ReferenceAdapter adapter = adapter(r);
            if (adapter != null) {
                int token = step.tokenIds[r] < table.rows() ? step.tokenIds[r] : 0;
                float[] before = ReferenceBuffer.row(output, r);
                ReferenceOperations.store(
                        output, r, i -> scale * adapter.embedded(table, token, i, before[i] / (double) scale));
            }
        }
    }

    void changeLogits(Rows input, Weight weight, Rows output, int outputs) {
        for (int i = 0; i < outputs; i++) {
            ReferenceAdapter adapter = adapter(step.outputRow[i]);
            if (adapter != null) {
                float[] x = ReferenceBuffer.row(input, i);
                float[] before = ReferenceBuffer.row(output, i);
                ReferenceOperations.store(output, i, n -> adapter.logit(weight, n, x, before[n]));
            }
        }
    }

    /** The sum of chosen experts, with what was added to them. */
    static void combine(Rows input, Routing routing, float scale, boolean adds, Rows output, int rows) {
        float[] weights = ReferenceBuffer.of(routing.weights());
        for (int r = 0; r < rows; r++) {
            var sum = new double[output.columns()];
            for (int choice = r * routing.chosen(); choice < (r + 1) * routing.chosen(); choice++) {
                float[] x = ReferenceBuffer.row(input, choice);
                for (int i = 0; i < sum.length; i++) {
                    sum[i] += (double) weights[choice] * x[i];
                }
            }
            float[] before = ReferenceBuffer.row(output, r);
            ReferenceOperations.store(output, r, i -> (adds ? before[i] : 0) + scale * sum[i]);
        }
    }

    void addToExperts(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        for (int choice = 0; choice < rows * routing.chosen(); choice++) {
            ReferenceAdapter adapter = adapter(choice / routing.chosen());
            if (adapter != null) {
                int expert = (int) ReferenceBuffer.of(routing.experts())[choice];
                float[] x = ReferenceBuffer.row(input, linear.spread() ? choice : choice / routing.chosen());
                float[] before = ReferenceBuffer.row(output, choice);
                ReferenceOperations.store(
                        output, choice, n -> before[n] + adapter.sum(linear.experts(), Use.PRODUCT, expert, n, x));
            }
        }
    }
}
