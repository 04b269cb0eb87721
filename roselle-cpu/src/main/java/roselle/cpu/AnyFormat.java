package roselle.cpu;

import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** A format without vector form: its scalar twin fills the panels. */
final class AnyFormat implements WeightFormat {
    private final Dequantizer scalar;

    AnyFormat(DataType type) {
        scalar = Dequantizer.of(type);
    }

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, float[] scratch) {
        WeightFormat.decodeByScalar(scalar, weights, offset, count, panel, at, step, scratch);
    }
}
