package roselle.bench.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

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
}
