package roselle.backend.reference;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.AdapterPart.Use;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.OwnMatrix;
import roselle.backend.memory.Weight;
import roselle.tensor.Dequantizer;

/** An adapter as its matrices, in float32. */
final class ReferenceAdapter implements Adapter {
    private final List<Part> parts = new ArrayList<>();
    private final List<Own> own = new ArrayList<>();
    private long bytes;

    @Override
    public long bytes() {
        return bytes;
    }

    /** What is added to some outputs of a weight. */
    private static final class Part {
        private final LowRank of;
        private final float[] shrink;
        private final float[] expand;

        Part(LowRank of) {
            this.of = of;
            shrink = Dequantizer.all(of.shrink());
            expand = Dequantizer.all(of.expand());
        }

        private double inner(int rank, float[] x) {
            double inner = 0;
            for (int k = 0; k < of.inputs(); k++) {
                inner += (double) shrink[rank * of.inputs() + k] * x[k];
            }
            return inner;
        }

        private double factor(int output, int rank) {
            return (double) of.scale() * expand[of.order().applyAsInt(output) * of.rank() + rank];
        }

        /** The sum that an output, counted from the first, gets from a row. */
        double sum(int output, float[] x) {
            double sum = 0;
            for (int j = 0; j < of.rank(); j++) {
                sum += factor(output, j) * inner(j, x);
            }
            return sum;
        }

        /** The sum that an output gets from a token. */
        double sum(int output, int token) {
            double sum = 0;
            for (int j = 0; j < of.rank(); j++) {
                sum += factor(output, j) * shrink[j * of.inputs() + token];
            }
            return sum;
        }

        boolean changes(Weight weight, Use use, int matrix, int output) {
            int own = output - of.firstOutput();
            boolean isProduct = use == Use.PRODUCT && (of.use() == Use.ACTIVATED_PRODUCT || of.use() == Use.EXPERT);
            return of.weight().equals(weight)
                    && (of.use() == use || isProduct)
                    && of.matrix() == matrix
                    && own >= 0
                    && own < of.outputs();
        }
    }

    /** What stands in the place of a weight. */
    private static final class Own {
        private final OwnMatrix of;
        private final float[] matrix;
        private final float[] bias;

        Own(OwnMatrix of) {
            this.of = of;
            matrix = Dequantizer.all(of.matrix());
            bias = of.bias() == null ? new float[0] : Dequantizer.all(of.bias());
        }
    }

    static ReferenceAdapter of(List<? extends AdapterPart> all) {
        var adapter = new ReferenceAdapter();
        for (AdapterPart each : all) {
            switch (each) {
                case LowRank pair -> adapter.parts.add(new Part(pair));
                case OwnMatrix matrix -> adapter.own.add(new Own(matrix));
            }
        }
        for (Part part : adapter.parts) {
            adapter.bytes += (part.shrink.length + part.expand.length) * (long) Float.BYTES;
        }
        for (Own each : adapter.own) {
            adapter.bytes += (each.matrix.length + each.bias.length) * (long) Float.BYTES;
        }
        return adapter;
    }

    /** What is added to an output of a matrix of a weight. */
    double sum(Weight weight, Use use, int matrix, int output, float[] x) {
        double sum = 0;
        for (Part part : parts) {
            if (part.changes(weight, use, matrix, output)) {
                sum += part.sum(output - part.of.firstOutput(), x);
            }
        }
        return sum;
    }

    /** A number of a token's embedding, without the scale of all. */
    double embedded(Weight table, int token, int output, double before) {
        Own other = own(table, Use.TABLE);
        double sum = other == null ? before : other.matrix[token * table.columns() + output];
        for (Part part : parts) {
            if (part.changes(table, Use.TABLE, 0, output)) {
                sum += part.sum(output - part.of.firstOutput(), token);
            }
        }
        return sum;
    }

    /** A logit. */
    double logit(Weight weight, int output, float[] x, double before) {
        Own other = own(weight, Use.LOGITS);
        double sum = before;
        if (other != null) {
            sum = other.bias.length == 0 ? 0 : other.bias[output];
            for (int k = 0; k < weight.columns(); k++) {
                sum += (double) other.matrix[output * weight.columns() + k] * x[k];
            }
        }
        return sum + sum(weight, Use.LOGITS, 0, output, x);
    }

    private @Nullable Own own(Weight weight, Use use) {
        for (Own each : own) {
            if (each.of.weight().equals(weight) && each.of.use() == use) {
                return each;
            }
        }
        return null;
    }
}
