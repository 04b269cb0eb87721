package roselle.cpu.path;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.Processor.Feature;
import roselle.cpu.option.CpuPath;
import roselle.tensor.DataType;

/** Which path is taken of such as were measured, with rates that were made up. */
class PathChoiceTest {
    private static final Contender HALVES = new Contender(CpuPath.BF16, Compute.BF16);
    private static final Contender WIDE = new Contender(CpuPath.AVX512, Compute.F32);
    private static final Contender NARROW = new Contender(CpuPath.AVX2, Compute.F32);
    private static final Contender BYTES = new Contender(CpuPath.VNNI, Compute.INT8);

    private final List<Contender> contenders = new ArrayList<>();
    private final List<PathRates> rates = new ArrayList<>();

    private void measured(Contender contender, double prompt, double decode) {
        contenders.add(contender);
        rates.add(new PathRates(contender.label(), prompt * 1e9, decode * 1e9));
    }

    private Contender taken() {
        return PathChoice.of(contenders, rates).taken();
    }

    /** A processor whose products of bfloat16 are slower than those of float32. */
    @Test
    void takesTheFastestThoughAnotherWasExpected() {
        measured(HALVES, 47, 46);
        measured(WIDE, 74, 86);
        measured(NARROW, 63, 42);
        assertThat(taken()).isEqualTo(WIDE);
    }

    @Test
    void keepsWhatWasExpectedWithinTheMargin() {
        measured(HALVES, 100, 100);
        measured(WIDE, 104.9, 104.9);
        assertThat(taken()).isEqualTo(HALVES);
    }

    @Test
    void leavesWhatWasExpectedBeyondTheMarginInEitherKindOfStep() {
        measured(HALVES, 100, 100);
        measured(WIDE, 101, 106);
        assertThat(taken()).isEqualTo(WIDE);
    }

    @Test
    void takesTheLeastBehindWhereNoneIsTheFastestInBoth() {
        measured(HALVES, 100, 40);
        measured(WIDE, 80, 50);
        measured(NARROW, 20, 60);
        assertThat(taken()).isEqualTo(WIDE);
    }

    @Test
    void takesBytesFromOneAndAHalfTimesTheFastestFloatsOn() {
        measured(WIDE, 100, 50);
        measured(BYTES, 150, 50);
        assertThat(taken()).isEqualTo(BYTES);
    }

    @Test
    void leavesBytesThatAreNotWorthTheirRounding() {
        measured(WIDE, 100, 50);
        measured(NARROW, 20, 10);
        measured(BYTES, 149, 500);
        assertThat(taken()).isEqualTo(WIDE);
    }

    @Test
    void leavesBytesThatMakeDecodeStepsSlower() {
        measured(WIDE, 100, 50);
        measured(BYTES, 300, 47);
        assertThat(taken()).isEqualTo(WIDE);
    }

    @Test
    void saysWhatWasMeasured() {
        measured(WIDE, 44, 15);
        measured(BYTES, 121, 34);
        assertThat(PathChoice.of(contenders, rates).reason())
                .isEqualTo("measured, in billions of products a second and core of prompts and of one row:"
                        + " 121 and 34; avx512/f32 44 and 15");
    }

    /** Time passes only while something is multiplied: as much as the product says. */
    private static final class Planted implements PathMeter.Product {
        private final AtomicLong clock;
        private final long[] prompts;
        private final long decode;

        Planted(AtomicLong clock, long[] prompts, long decode) {
            this.clock = clock;
            this.prompts = prompts;
            this.decode = decode;
        }

        @Override
        public long prompt() {
            clock.addAndGet(prompts[0]);
            System.arraycopy(prompts, 1, prompts, 0, prompts.length - 1);
            return 1_000;
        }

        @Override
        public long decode() {
            clock.addAndGet(decode);
            return 10;
        }
    }

    @Test
    void countsTheLeastTimeOfEach() {
        var clock = new AtomicLong(Long.MAX_VALUE - 100); // which turns over
        var first = new Planted(clock, new long[] {900, 100, 700, 500}, 5);
        var second = new Planted(clock, new long[] {400, 800, 800, 200}, 10);
        List<PathRates> measured = new PathMeter(clock::get, 0).measure(List.of("a", "b"), List.of(first, second));
        assertThat(measured).containsExactly(new PathRates("a", 1e10, 2e9), new PathRates("b", 5e9, 1e9));
    }

    @Test
    void endsWithTheTurnInWhichTheTimeIsUp() {
        var clock = new AtomicLong();
        var slow = new long[100];
        java.util.Arrays.fill(slow, 10);
        new PathMeter(clock::get, 200).measure(List.of("a"), List.of(new Planted(clock, slow, 1)));
        assertThat(clock.get()).isEqualTo(209); // 19 turns of 11
    }

    @Test
    void measuresOnlyWhereThereIsAChoice() {
        assertThat(AutomaticPath.contenders(Set.of(Feature.AVX2), DataType.Q6_K))
                .hasSize(1);
        assertThat(AutomaticPath.contenders(Set.of(Feature.AVX2, Feature.AVX512), DataType.F32))
                .isEmpty();
        assertThat(AutomaticPath.splitting(Set.of(Feature.values())))
                .containsExactly(new Contender(CpuPath.AMX, Compute.SPLIT), WIDE);
        assertThat(AutomaticPath.splitting(Set.of(Feature.AVX2, Feature.AVX512)))
                .isEmpty();
        assertThat(AutomaticPath.contenders(Set.of(Feature.values()), DataType.Q8_0))
                .as("tiles are taken where they are")
                .isEmpty();
        assertThat(AutomaticPath.contenders(
                        Set.of(Feature.AVX2, Feature.AVX512, Feature.VNNI, Feature.BF16), DataType.Q8_0))
                .containsExactly(HALVES, WIDE, NARROW, BYTES);
        assertThat(AutomaticPath.contenders(Set.of(Feature.AVX2, Feature.AVX512, Feature.VNNI), DataType.BF16))
                .containsExactly(WIDE, NARROW);
    }
}
