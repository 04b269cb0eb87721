package roselle.cpu.format;

import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import roselle.quantization.GroupScales;
import roselle.tensor.Tensor;

/** Plain codes whose scales lie in a second tensor: decoded as if there were none, and multiplied group by group. */
final class ScaledFormat implements WeightFormat {
    private final WeightFormat codes;
    private final GroupScales scales;
    private final long columns;
    private final int codeBytes;

    ScaledFormat(WeightFormat codes, Tensor matrix, GroupScales scales) {
        this.codes = codes;
        this.scales = scales;
        columns = matrix.shape().columns();
        codeBytes = matrix.type().blockBytes();
    }

    @Override
    public void decode(
            MemorySegment weights, long offset, int count, float[] panel, int at, int step, Unpacked scratch) {
        codes.decode(weights, offset, count, panel, at, step, scratch);
        long row = offset / codeBytes / columns;
        long column = offset / codeBytes % columns;
        int i = 0;
        while (i < count) {
            float scale = scales.at(row, column + i);
            int end = (int) Math.min(count, scales.end(column + i) - column);
            multiply(panel, at, step, i, end, scale);
            i = end;
        }
    }

    /** Numbers {@code first} until {@code end}, of which each {@code COUNT} are {@code step} floats from the next. */
    private static void multiply(float[] panel, int at, int step, int first, int end, float scale) {
        int i = first;
        for (; i < end && i % COUNT != 0; i++) {
            panel[at + i / COUNT * step + i % COUNT] *= scale;
        }
        for (; i + COUNT <= end; i += COUNT) {
            int place = at + i / COUNT * step;
            FloatVector.fromArray(FLOATS, panel, place).mul(scale).intoArray(panel, place);
        }
        for (; i < end; i++) {
            panel[at + i / COUNT * step + i % COUNT] *= scale;
        }
    }
}
