package roselle.backend.reference;

import java.util.ArrayList;
import java.util.List;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.Weight;
import roselle.tensor.Dequantizer;

/** An adapter as its matrices, in float32. */
final class ReferenceAdapter implements Adapter {
    private final List<Part> parts;
    private final long bytes;

    private ReferenceAdapter(List<Part> parts, long bytes) {
        this.parts = List.copyOf(parts);
        this.bytes = bytes;
    }

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

        /** The sum that an output, counted from the first, gets from a row. */
        double sum(int output, float[] x) {
            double sum = 0;
            for (int j = 0; j < of.rank(); j++) {
                double inner = 0;
                for (int k = 0; k < of.inputs(); k++) {
                    inner += (double) shrink[j * of.inputs() + k] * x[k];
                }
                sum += expand[of.order().applyAsInt(output) * of.rank() + j] * inner;
            }
            return of.scale() * sum;
        }
    }

    static ReferenceAdapter of(List<LowRank> matrices) {
        var parts = new ArrayList<Part>();
        long bytes = 0;
        for (LowRank each : matrices) {
            var part = new Part(each);
            parts.add(part);
            bytes += (part.shrink.length + part.expand.length) * (long) Float.BYTES;
        }
        return new ReferenceAdapter(parts, bytes);
    }

    /** What is added to an output of a weight. */
    double sum(Weight weight, int output, float[] x) {
        double sum = 0;
        for (Part part : parts) {
            int own = output - part.of.firstOutput();
            if (part.of.weight().equals(weight) && own >= 0 && own < part.of.outputs()) {
                sum += part.sum(own, x);
            }
        }
        return sum;
    }
}
