package roselle.quantization.encoding;

import org.jspecify.annotations.Nullable;

/** Q2_K, Q4_K and Q5_K: 256 numbers in groups with a small scale and a small minimum each, under two f16 scales. */
final class AffineEncoder implements Encoder.OneBlock {
    private static final int ELEMENTS = 256;

    private final int group;
    private final int highest; // code
    private final Levels small; // scales and minima
    private final int scaleAt;
    private final Layout layout;
    private final ScaleSearch search = new ScaleSearch();
    private final int[] codes = new int[ELEMENTS];
    private final int[] scaleCodes;
    private final int[] minimumCodes;
    private final float[] scales;
    private final float[] minima;
    private final float[] scaleWeights;
    private final float[] minimumWeights;
    private final float[] weights;

    /** Where codes of numbers, scales and minima lie. */
    @FunctionalInterface
    private interface Layout {
        void put(int[] codes, int[] scales, int[] minima, byte[] target, int at);
    }

    private AffineEncoder(int group, int highest, int smallHighest, int scaleAt, Layout layout) {
        this.group = group;
        this.highest = highest;
        this.scaleAt = scaleAt;
        this.layout = layout;
        small = Levels.range(0, smallHighest);
        int groups = ELEMENTS / group;
        scaleCodes = new int[groups];
        minimumCodes = new int[groups];
        scales = new float[groups];
        minima = new float[groups];
        scaleWeights = new float[groups];
        minimumWeights = new float[groups];
        weights = new float[group];
    }

    // 16 bytes of scale (low) and minimum (high) | 64 bytes of 2-bit codes | scale f16 | scale of minima f16
    static AffineEncoder q2_k() {
        return new AffineEncoder(16, 3, 15, 80, (codes, scales, minima, target, at) -> {
            for (int i = 0; i < scales.length; i++) {
                target[at + i] = (byte) (scales[i] | (minima[i] << 4));
            }
            Codes.clear(target, at + 16, 64);
            Codes.put(codes, target, at + 16, 32, 2, 0);
        });
    }

    // scale f16 | scale of minima f16 | 12 bytes of 6-bit scales and minima | 128 bytes of 4-bit codes
    static AffineEncoder q4_k() {
        return new AffineEncoder(32, 15, 63, 0, (codes, scales, minima, target, at) -> {
            sixBits(scales, minima, target, at + 4);
            Codes.clear(target, at + 16, 128);
            Codes.put(codes, target, at + 16, 32, 4, 0);
        });
    }

    // as Q4_K, with 32 bytes of fifth bits before the codes
    static AffineEncoder q5_k() {
        return new AffineEncoder(32, 31, 63, 0, (codes, scales, minima, target, at) -> {
            sixBits(scales, minima, target, at + 4);
            Codes.clear(target, at + 16, 160);
            Codes.put(codes, target, at + 16, 32, 1, 4);
            Codes.put(codes, target, at + 48, 32, 4, 0);
        });
    }

    /** Scales 0 to 3, minima 0 to 3, then nibbles of both 4 to 7, whose upper two bits lie above the first ones. */
    private static void sixBits(int[] scales, int[] minima, byte[] target, int at) {
        for (int i = 0; i < 4; i++) {
            target[at + i] = (byte) (scales[i] | ((scales[i + 4] >> 4) << 6));
            target[at + 4 + i] = (byte) (minima[i] | ((minima[i + 4] >> 4) << 6));
            target[at + 8 + i] = (byte) ((scales[i + 4] & 0xF) | ((minima[i + 4] & 0xF) << 4));
        }
    }

    @Override
    public void encode(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        float meanSquare = ColumnWeights.meanSquare(numbers, from, ELEMENTS);
        for (int i = 0; i < scales.length; i++) {
            int first = from + i * group;
            ColumnWeights.fill(numbers, first, group, meanSquare, importance, weights);
            search.affine(numbers, first, weights, group, highest);
            scales[i] = search.scale();
            minima[i] = search.minimum();
            scaleWeights[i] = search.scaleWeight();
            minimumWeights[i] = search.minimumWeight();
        }
        float scale = round(scales, scaleWeights, scaleCodes, target, at + scaleAt);
        float minimumScale = round(minima, minimumWeights, minimumCodes, target, at + scaleAt + 2);
        for (int i = 0; i < scales.length; i++) {
            float ofGroup = scale * scaleCodes[i];
            float minimum = minimumScale * minimumCodes[i];
            float inverse = ofGroup == 0 ? 0 : 1 / ofGroup;
            for (int j = i * group; j < (i + 1) * group; j++) {
                codes[j] = Codes.nearest(Math.clamp((numbers[from + j] + minimum) * inverse, 0f, highest));
            }
        }
        layout.put(codes, scaleCodes, minimumCodes, target, at);
    }

    /** Rounds the factors of groups under one f16 scale, and returns that. */
    private float round(float[] factors, float[] factorWeights, int[] rounded, byte[] target, int at) {
        search.symmetric(factors, 0, factorWeights, factors.length, small);
        float scale = Codes.half(search.scale(), target, at);
        float inverse = scale == 0 ? 0 : 1 / scale;
        for (int i = 0; i < factors.length; i++) {
            rounded[i] = small.code(factors[i] * inverse);
        }
        return scale;
    }
}
