package roselle.quantization.encoding;

import org.jspecify.annotations.Nullable;

/** Q3_K, Q6_K and IQ4_XS: 256 numbers in groups with a small signed scale each, under one f16 scale. */
final class SymmetricEncoder implements Encoder.OneBlock {
    private static final int ELEMENTS = 256;

    private final int group;
    private final Levels levels;
    private final Levels scales;
    private final int scaleAt;
    private final Layout layout;
    private final ScaleSearch search = new ScaleSearch();
    private final int[] codes = new int[ELEMENTS];
    private final int[] scaleCodes;
    private final float[] groupScales;
    private final float[] scaleWeights;
    private final float[] weights;

    /** Where codes of numbers and of scales lie. */
    @FunctionalInterface
    private interface Layout {
        void put(int[] codes, int[] scales, byte[] target, int at);
    }

    private SymmetricEncoder(int group, Levels levels, Levels scales, int scaleAt, Layout layout) {
        this.group = group;
        this.levels = levels;
        this.scales = scales;
        this.scaleAt = scaleAt;
        this.layout = layout;
        scaleCodes = new int[ELEMENTS / group];
        groupScales = new float[ELEMENTS / group];
        scaleWeights = new float[ELEMENTS / group];
        weights = new float[group];
    }

    // 32 bytes of third bits | 64 bytes of 2-bit codes | 12 bytes of 6-bit scales | scale f16
    static SymmetricEncoder q3_k() {
        return new SymmetricEncoder(
                16, Levels.range(-4, 3), Levels.range(-32, 31), 108, (codes, scales, target, at) -> {
                    Codes.clear(target, at, 108);
                    Codes.put(codes, target, at, 32, 1, 2);
                    Codes.put(codes, target, at + 32, 32, 2, 0);
                    Codes.put(scales, target, at + 96, 8, 4, 0);
                    Codes.put(scales, target, at + 104, 4, 2, 4);
                });
    }

    // 128 bytes of low nibbles | 64 bytes of upper 2 bits | 16 signed scales | scale f16
    static SymmetricEncoder q6_k() {
        return new SymmetricEncoder(
                16, Levels.range(-32, 31), Levels.range(-128, 127), 208, (codes, scales, target, at) -> {
                    Codes.clear(target, at, 192);
                    Codes.put(codes, target, at, 64, 4, 0);
                    Codes.put(codes, target, at + 128, 32, 2, 4);
                    for (int i = 0; i < scales.length; i++) {
                        target[at + 192 + i] = (byte) (scales[i] - 128);
                    }
                });
    }

    // scale f16 | upper 2 bits of 8 scales | lower 4 bits of 8 scales | 128 bytes of codes
    static SymmetricEncoder iq4_xs() {
        return new SymmetricEncoder(32, TableEncoder.STEPS, Levels.range(-32, 31), 0, (codes, scales, target, at) -> {
            Codes.clear(target, at + 2, 134);
            Codes.put(scales, target, at + 2, 1, 2, 4);
            Codes.put(scales, target, at + 4, 1, 4, 0);
            Codes.put(codes, target, at + 8, 16, 4, 0);
        });
    }

    @Override
    public void encode(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        float meanSquare = ColumnWeights.meanSquare(numbers, from, ELEMENTS);
        for (int i = 0; i < groupScales.length; i++) {
            int first = from + i * group;
            ColumnWeights.fill(numbers, first, group, meanSquare, importance, weights);
            search.symmetric(numbers, first, weights, group, levels);
            groupScales[i] = search.scale();
            scaleWeights[i] = search.scaleWeight();
        }
        search.symmetric(groupScales, 0, scaleWeights, groupScales.length, scales);
        float scale = Codes.half(search.scale(), target, at + scaleAt);
        float inverse = scale == 0 ? 0 : 1 / scale;
        for (int i = 0; i < groupScales.length; i++) {
            scaleCodes[i] = scales.code(groupScales[i] * inverse);
            float ofGroup = scale * scales.value(scaleCodes[i]);
            float inverseOfGroup = ofGroup == 0 ? 0 : 1 / ofGroup;
            for (int j = i * group; j < (i + 1) * group; j++) {
                codes[j] = levels.code(numbers[from + j] * inverseOfGroup);
            }
        }
        layout.put(codes, scaleCodes, target, at);
    }
}
