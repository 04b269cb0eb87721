package roselle.cpu.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.backend.memory.KvType;
import roselle.cpu.vector.Lanes;

/** Codes of keys and values, held to float64: what is read is the nearest that the scale allows, and no byte beside it changes. */
class KvFormatTest {
    private static final long SEED = 20_261_123L;
    private static final byte BESIDE = 0x5a;

    @ParameterizedTest
    @EnumSource(
            value = KvType.class,
            names = {"FP8", "INT8", "INT4"})
    void whatIsReadIsTheNearestThatTheScaleAllows(KvType type) {
        var random = new Random(SEED);
        for (int size = 1; size <= 140; size++) {
            float[] x = new float[size];
            for (int i = 0; i < size; i++) {
                x[i] = (float) (random.nextGaussian() * Math.pow(10, random.nextInt(9) - 4));
            }
            assertNearest(type, x);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = KvType.class,
            names = {"FP8", "INT8", "INT4"})
    void numbersThatCodesHaveStayAsTheyAre(KvType type) {
        float[] x = new float[16];
        for (int i = 0; i < x.length; i++) {
            x[i] = switch (type) {
                case FP8 -> i == 0 ? 448 : (i - 8) * 0x1p-9f; // subnormal ones, with the scale 1
                case INT8 -> i == 0 ? -127 : i - 8;
                default -> 3 + 0.25f * i;
            };
        }
        assertThat(read(type, x)).containsExactly(x);
    }

    @ParameterizedTest
    @EnumSource(
            value = KvType.class,
            names = {"FP8", "INT8", "INT4"})
    void oneNumberManyTimesStaysAsItIs(KvType type) {
        for (float number : new float[] {0f, -0.375f, Float.MIN_VALUE, 1e30f}) {
            float[] x = new float[33];
            Arrays.fill(x, number);
            float error = type == KvType.INT4 ? 0 : Math.max(Math.ulp(number) * 2, Float.MIN_VALUE);
            for (float read : read(type, x)) {
                assertThat(read).isCloseTo(number, within(error));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = KvType.class,
            names = {"FP8", "INT8", "INT4"})
    void whatIsNoNumberIsSeenInAllOfAKey(KvType type) {
        for (float poison : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            float[] x = new float[40];
            Arrays.fill(x, 1f);
            x[17] = poison;
            for (float read : read(type, x)) {
                assertThat(read).isNaN();
            }
        }
    }

    private static void assertNearest(KvType type, float[] x) {
        float[] read = read(type, x);
        double least = Double.POSITIVE_INFINITY;
        double most = Double.NEGATIVE_INFINITY;
        for (float number : x) {
            least = Math.min(least, number);
            most = Math.max(most, number);
        }
        double largest = Math.max(-least, most);
        for (int i = 0; i < x.length; i++) {
            double step = switch (type) {
                case FP8 -> largest / 448 * stepOfE4m3(Math.abs(x[i]) / largest * 448);
                case INT8 -> largest / 127;
                default -> (most - least) / 15;
            };
            assertThat((double) read[i])
                    .as("%s, number %d of %d, seed %d", type, i, x.length, SEED)
                    .isCloseTo(x[i], within(step / 2 * (1 + 1e-4) + largest * 1e-6));
        }
    }

    /** How far apart the numbers of E4M3 are. */
    private static double stepOfE4m3(double number) {
        return Math.scalb(1.0, Math.max(-6, Math.getExponent(number)) - 3);
    }

    /** What is read of a key that is stored between two others, at an odd place. */
    private static float[] read(KvType type, float[] x) {
        int size = x.length;
        int stride = Lanes.padded(size);
        int codes = (int) type.codeBytes(size);
        int scales = type.scaleBytes();
        KvFormat format = KvFormat.of(type);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(1 + 3L * (codes + scales));
            page.fill(BESIDE);
            format.store(MemorySegment.ofArray(x), 0, size, page, 1 + codes, 1 + 3L * codes + scales);
            for (long at = 0; at < page.byteSize(); at++) {
                long ofScales = at - 1 - 3L * codes;
                boolean isOwn =
                        (at >= 1 + codes && at < 1 + 2 * codes) || (ofScales >= scales && ofScales < 2L * scales);
                if (!isOwn) {
                    assertThat(page.get(ValueLayout.JAVA_BYTE, at)).isEqualTo(BESIDE);
                }
            }
            float[] numbers = new float[3 * stride];
            format.load(page, 1, 1 + 3L * codes, size, 3, numbers, 0, stride, new Unpacked());
            float[] alone = new float[stride];
            format.load(page, 1 + codes, 1 + 3L * codes + scales, size, 1, alone, 0, stride, new Unpacked());
            float[] among = Arrays.copyOfRange(numbers, stride, stride + size);
            assertThat(Arrays.copyOf(alone, size)).isEqualTo(among);
            return among;
        }
    }
}
