package roselle.quantization.folder;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import roselle.api.CheckpointException;
import roselle.quantization.Group;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/**
 * Turns rows of a matrix into codes and scales, rounding to the nearest with ties to even: each scale makes the largest number of
 * its group the largest that there is. A group of zeros has the scale 1, for none may be 0.
 */
final class RowEncoder {
    private static final float LARGEST_E4M3 = 448;
    private static final float LARGEST_INT4 = 7.5f; // between -8 and 7, as compressed-tensors divides
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final FolderType type;
    private final Tensor source;
    private final Group group;
    private final int columns;

    /** Encoded rows, as they lie in the tensors. */
    record Rows(ByteBuffer codes, ByteBuffer scales) {}

    RowEncoder(FolderType type, Tensor source) {
        this.type = type;
        this.source = source;
        group = type.group(source.shape());
        columns = Math.toIntExact(source.shape().columns());
    }

    /** Rows that have scales together, which are not torn apart. */
    int rowsOfGroup() {
        return Math.toIntExact(Math.min(source.shape().rows(), group.rows()));
    }

    /** Encodes rows, of which the first one begins a group. */
    Rows encode(long first, int rows) {
        float[] numbers = numbers(first, rows);
        boolean isInt4 = type == FolderType.INT4;
        int down = Math.toIntExact(group.rows());
        int across = Math.toIntExact(group.columns());
        var codes = new byte[isInt4 ? numbers.length / 2 : numbers.length];
        var scales = new byte[Math.ceilDiv(rows, down) * Math.ceilDiv(columns, across) * (isInt4 ? 2 : 4)];
        var scaleData = MemorySegment.ofArray(scales);
        int index = 0;
        for (int top = 0; top < rows; top += down) {
            int bottom = Math.min(rows, top + down);
            for (int left = 0; left < columns; left += across) {
                int right = Math.min(columns, left + across);
                float scale = scale(largest(numbers, top, bottom, left, right));
                if (isInt4) {
                    scaleData.set(SHORT, 2L * index++, (short) (Float.floatToRawIntBits(scale) >>> 16));
                } else {
                    scaleData.set(INT, 4L * index++, Float.floatToRawIntBits(scale));
                }
                for (int row = top; row < bottom; row++) {
                    encode(numbers, row * columns + left, right - left, scale, codes);
                }
            }
        }
        return new Rows(ByteBuffer.wrap(codes), ByteBuffer.wrap(scales));
    }

    private float[] numbers(long first, int rows) {
        DataType stored = source.type();
        var numbers = new float[Math.multiplyExact(rows, columns)];
        Dequantizer.of(stored).dequantize(source.data(), first * stored.rowBytes(columns), numbers, 0, numbers.length);
        for (int i = 0; i < numbers.length; i++) {
            if (!Float.isFinite(numbers[i])) {
                throw new CheckpointException("tensor " + source.name() + " has the number " + numbers[i] + " in row "
                        + (first + i / columns) + ", column " + i % columns + "; only finite numbers can be converted");
            }
        }
        return numbers;
    }

    private float largest(float[] numbers, int top, int bottom, int left, int right) {
        float largest = 0;
        for (int row = top; row < bottom; row++) {
            for (int i = row * columns + left; i < row * columns + right; i++) {
                largest = Math.max(largest, Math.abs(numbers[i]));
            }
        }
        return largest;
    }

    private float scale(float largest) {
        float scale = type == FolderType.INT4 ? bfloat(largest / LARGEST_INT4) : largest / LARGEST_E4M3;
        return scale == 0 ? 1 : scale;
    }

    /** The nearest bfloat16, ties to even. */
    private static float bfloat(float number) {
        int bits = Float.floatToRawIntBits(number);
        return Float.intBitsToFloat((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000);
    }

    private void encode(float[] numbers, int from, int count, float scale, byte[] codes) {
        for (int i = from; i < from + count; i++) {
            float steps = numbers[i] / scale;
            if (type == FolderType.INT4) {
                int code = Math.clamp((int) Math.rint(steps), -8, 7) + 8;
                codes[i / 2] |= (byte) (code << (i % 2 * 4));
            } else {
                codes[i] = e4m3(steps);
            }
        }
    }

    /** The code of the E4M3 nearest to a number, ties to even, the largest for all that is larger. */
    private static byte e4m3(float number) {
        int sign = Float.floatToRawIntBits(number) >>> 31 << 7;
        float size = Math.min(Math.abs(number), LARGEST_E4M3);
        if (size < 0x1p-6f) {
            return (byte) (sign | (int) Math.rint(size * 0x1p9f));
        }
        int bits = Float.floatToRawIntBits(size);
        int rounded = (bits + 0x7ffff + ((bits >>> 20) & 1)) >>> 20;
        return (byte) (sign | (rounded - (120 << 3)));
    }
}
