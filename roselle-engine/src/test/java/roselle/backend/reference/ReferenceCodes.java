package roselle.backend.reference;

import java.lang.foreign.MemorySegment;
import java.util.function.DoubleUnaryOperator;
import roselle.backend.memory.KvType;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Keys and values as {@link KvType} defines them: each number's nearest code is looked for among all that there are. */
final class ReferenceCodes {
    private static final float[] E4M3 = e4m3();

    private ReferenceCodes() {}

    /** What is read where a key or value was stored. */
    static float[] kept(KvType type, float[] x) {
        return switch (type) {
            case F32 -> x.clone();
            case F16 -> each(x, number -> Float.float16ToFloat(Float.floatToFloat16((float) number)));
            case BF16 -> each(x, number -> bfloat16((float) number));
            case FP8 -> coded(x, largest(x) / 448, 0f, ReferenceCodes::nearestE4m3);
            case INT8 -> coded(x, largest(x) / 127, 0f, quotient -> whole(quotient, -127, 127));
            case INT4 -> coded(x, (most(x) - least(x)) / 15, least(x), quotient -> whole(quotient, 0, 15));
        };
    }

    private static float[] each(float[] x, DoubleUnaryOperator change) {
        var kept = new float[x.length];
        for (int i = 0; i < x.length; i++) {
            kept[i] = (float) change.applyAsDouble(x[i]);
        }
        return kept;
    }

    /** {@code scale * code + zero} of each number, where the code is a quotient's nearest. */
    private static float[] coded(float[] x, float scale, float zero, DoubleUnaryOperator nearest) {
        return each(x, number -> {
            if (!Float.isFinite(scale)) {
                return Float.NaN;
            }
            float quotient = ((float) number - zero) / scale;
            return scale == 0 ? zero : Math.fma(scale, (float) nearest.applyAsDouble(quotient), zero);
        });
    }

    private static double whole(double quotient, int least, int most) {
        return Math.clamp(Math.rint(quotient), least, most);
    }

    private static double nearestE4m3(double quotient) {
        int best = 0;
        for (int code = 1; code < E4M3.length; code++) {
            double one = Math.abs(E4M3[code] - Math.abs(quotient));
            double other = Math.abs(E4M3[best] - Math.abs(quotient));
            if (one < other || (one == other && code % 2 == 0)) {
                best = code;
            }
        }
        return Math.copySign(E4M3[best], quotient);
    }

    /** The numbers of E4M3 that are not negative, by their codes. */
    private static float[] e4m3() {
        var codes = new byte[0x7f];
        for (int code = 0; code < codes.length; code++) {
            codes[code] = (byte) code;
        }
        var numbers = new float[codes.length];
        Dequantizer.of(DataType.F8_E4M3).dequantize(MemorySegment.ofArray(codes), 0, numbers, 0, numbers.length);
        return numbers;
    }

    private static float largest(float[] x) {
        return Math.max(most(x), -least(x));
    }

    private static float most(float[] x) {
        float most = Float.NEGATIVE_INFINITY;
        for (float number : x) {
            most = Math.max(most, number);
        }
        return most;
    }

    private static float least(float[] x) {
        float least = Float.POSITIVE_INFINITY;
        for (float number : x) {
            least = Math.min(least, number);
        }
        return least;
    }

    private static float bfloat16(float number) {
        int bits = Float.floatToRawIntBits(number);
        int even = bits >>> 16 & 1;
        return Float.isNaN(number) ? number : Float.intBitsToFloat((bits + 0x7FFF + even) & 0xFFFF0000);
    }
}
