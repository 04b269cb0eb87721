package roselle.quantization.encoding;

import org.jspecify.annotations.Nullable;

/** Q4_0, Q4_1, Q5_0 and Q5_1: blocks of 32 with an f16 scale, some with an f16 minimum, which is added. */
final class SmallEncoder implements Encoder.OneBlock {
    private static final int ELEMENTS = 32;

    private final int bits;
    private final boolean hasMinimum;
    private final Levels levels;
    private final ScaleSearch search = new ScaleSearch();
    private final int[] codes = new int[ELEMENTS];
    private final float[] weights = new float[ELEMENTS];

    SmallEncoder(int bits, boolean hasMinimum) {
        this.bits = bits;
        this.hasMinimum = hasMinimum;
        levels = Levels.range(-(1 << (bits - 1)), (1 << (bits - 1)) - 1);
    }

    @Override
    public void encode(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        int fields = hasMinimum ? 4 : 2;
        if (importance == null) {
            plainly(numbers, from, target, at);
        } else {
            float meanSquare = ColumnWeights.meanSquare(numbers, from, ELEMENTS);
            ColumnWeights.fill(numbers, from, ELEMENTS, meanSquare, importance, weights);
            searching(numbers, from, target, at);
        }
        int high = bits == 5 ? 4 : 0;
        Codes.clear(target, at + fields, high + ELEMENTS / 2);
        if (bits == 5) {
            Codes.put(codes, target, at + fields, 1, 1, 4);
        }
        Codes.put(codes, target, at + fields + high, ELEMENTS / 2, 4, 0);
    }

    /** As the reference rounds: by the largest number, or by the range; sums and products in float32. */
    private void plainly(float[] numbers, int from, byte[] target, int at) {
        int highest = (1 << bits) - 1;
        float least = numbers[from];
        float greatest = numbers[from];
        float extreme = numbers[from];
        for (int i = from; i < from + ELEMENTS; i++) {
            least = Math.min(least, numbers[i]);
            greatest = Math.max(greatest, numbers[i]);
            extreme = Math.abs(numbers[i]) > Math.abs(extreme) ? numbers[i] : extreme;
        }
        float scale = hasMinimum ? (greatest - least) / highest : extreme / levels.value(0);
        float inverse = scale == 0 ? 0 : 1 / scale;
        float half = hasMinimum ? 0.5f : 0.5f - levels.value(0);
        float subtracted = hasMinimum ? least : 0;
        for (int i = 0; i < ELEMENTS; i++) {
            float steps = (numbers[from + i] - subtracted) * inverse;
            codes[i] = Math.clamp((int) (steps + half), 0, highest);
        }
        Codes.half(scale, target, at);
        if (hasMinimum) {
            Codes.half(least, target, at + 2);
        }
    }

    private void searching(float[] numbers, int from, byte[] target, int at) {
        int highest = (1 << bits) - 1;
        if (hasMinimum) {
            search.affine(numbers, from, weights, ELEMENTS, highest);
        } else {
            search.symmetric(numbers, from, weights, ELEMENTS, levels);
        }
        float scale = Codes.half(search.scale(), target, at);
        float inverse = scale == 0 ? 0 : 1 / scale;
        float minimum = hasMinimum ? Codes.half(-search.minimum(), target, at + 2) : 0;
        for (int i = 0; i < ELEMENTS; i++) {
            float steps = (numbers[from + i] - minimum) * inverse;
            codes[i] = hasMinimum ? Math.clamp(Math.round(steps), 0, highest) : levels.code(steps);
        }
    }
}
