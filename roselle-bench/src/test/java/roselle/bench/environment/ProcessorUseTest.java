package roselle.bench.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class ProcessorUseTest {
    @Test
    void countsAllTicksThatWereNotIdle() {
        // user 100, nice 20, system 30, idle 5000, waiting 700, interrupts 4 and 6; a guest's time is within user's
        assertThat(ProcessorUse.busyNanos("cpu  100 20 30 5000 700 4 6 90 0 0")).hasValue(1_600_000_000L);
        assertThat(ProcessorUse.busyNanos("intr 100 20 30 5000 700 4 6 90")).isEmpty();
        assertThat(ProcessorUse.busyNanos("")).isEmpty();
    }

    @Test
    void tellsWhatOtherProgramsTook() {
        var use = new ProcessorUse(OptionalDouble.of(1.9), 0.25, OptionalDouble.of(1.15));

        assertThat(use.fields())
                .containsExactly(
                        entry("machine_cores", 1.9),
                        entry("generator_cores", 0.25),
                        entry("engine_cores", 1.15),
                        entry("other_cores", 0.5));
    }

    @Test
    void leavesOutWhatIsNotKnown() {
        assertThat(new ProcessorUse(OptionalDouble.of(1.9), 0.25, OptionalDouble.empty()).fields())
                .containsOnlyKeys("machine_cores", "generator_cores");
    }

    @Test
    void seesThisProcessAtWork() {
        ProcessorUse.Span span = ProcessorUse.begin(OptionalLong::empty);
        long before =
                ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
        while (ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() - before < 100_000_000) {
            Thread.onSpinWait();
        }

        assertThat(span.end().generator()).isPositive();
    }

    /** 1.5 cores for 1 s and 0.5 for 3 s are (1.5 + 1.5) / 4 = 0.75; where one span does not tell, nothing is told. */
    @Test
    void weighsSpansByTheirLength() {
        var first = new ProcessorUse(OptionalDouble.of(2), 0.25, OptionalDouble.of(1.5));
        var second = new ProcessorUse(OptionalDouble.of(1), 0.25, OptionalDouble.of(0.5));
        var untold = new ProcessorUse(OptionalDouble.of(1), 0.25, OptionalDouble.empty());

        ProcessorUse mean = ProcessorUse.mean(List.of(first, second), List.of(1.0, 3.0));

        assertThat(mean).isEqualTo(new ProcessorUse(OptionalDouble.of(1.25), 0.25, OptionalDouble.of(0.75)));
        assertThat(mean.others()).hasValue(0.25);
        assertThat(ProcessorUse.mean(List.of(first, untold), List.of(1.0, 3.0)).engine())
                .isEmpty();
    }

    @Test
    void countsThisProcessAsTheEngineWhereItIsOne() {
        ProcessorUse.Span span = ProcessorUse.beginWithin();
        double sum = 0;
        for (int i = 1; i < 20_000_000; i++) {
            sum += Math.sqrt(i);
        }
        ProcessorUse use = span.end();

        assertThat(sum).isPositive();
        assertThat(use.generator()).isZero();
        assertThat(use.engine()).isPresent();
    }
}
