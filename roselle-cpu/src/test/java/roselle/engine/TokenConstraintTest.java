package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import roselle.backend.Device;
import roselle.cpu.CpuDevice;
import roselle.engine.SteppedLoop.Asked;
import roselle.execution.QueuedDevice;
import roselle.testing.AheadDevices;
import roselle.testing.ConstrainedRequests;
import roselle.testing.ForcedRequests;

/** Masks take effect, with the same tokens whether the host samples or a device does, and whether or not steps are launched ahead. */
class TokenConstraintTest {
    private static final Path MODEL = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");

    @Test
    void constrainedSequencesHaveAllowedTokensAloneAndTheSameOnesHoweverTheyRun() {
        var all = ConstrainedRequests.of(320);
        List<List<Integer>> plain = SteppedLoop.answers(MODEL, new CpuDevice(2), false, all);
        ConstrainedRequests.check(all, plain);

        Device queued = new QueuedDevice(new CpuDevice(2));
        assertThat(SteppedLoop.answers(MODEL, queued, false, all)).isEqualTo(plain);

        var stepsAhead = new AtomicInteger();
        Device ahead = AheadDevices.counting(new QueuedDevice(new CpuDevice(2)), stepsAhead);
        assertThat(SteppedLoop.answers(MODEL, ahead, true, all)).isEqualTo(plain);
        assertThat(stepsAhead.get()).as("steps ahead").isGreaterThan(50);

        Device late = AheadDevices.late(new QueuedDevice(new CpuDevice(2)));
        assertThat(SteppedLoop.answers(MODEL, late, true, all)).isEqualTo(plain);
    }

    @Test
    void tokensThatMustComeAreTheSameInFewerSteps() {
        var sampledSteps = new AtomicInteger();
        Device counted = AheadDevices.countingSteps(new CpuDevice(2), sampledSteps);
        List<List<Integer>> sampled = SteppedLoop.answers(MODEL, counted, false, ForcedRequests.of(320, false));

        List<Asked> forced = ForcedRequests.of(320, true);
        var steps = new AtomicInteger();
        counted = AheadDevices.countingSteps(new CpuDevice(2), steps);
        assertThat(SteppedLoop.answers(MODEL, counted, false, forced)).isEqualTo(sampled);
        assertThat(steps.get()).as("steps").isLessThan(sampledSteps.get() * 3 / 4);

        var stepsAhead = new AtomicInteger();
        Device ahead = AheadDevices.counting(new QueuedDevice(new CpuDevice(2)), stepsAhead);
        assertThat(SteppedLoop.answers(MODEL, ahead, true, forced)).isEqualTo(sampled);
        assertThat(stepsAhead.get()).as("steps ahead").isGreaterThan(20);

        Device late = AheadDevices.late(new QueuedDevice(new CpuDevice(2)));
        assertThat(SteppedLoop.answers(MODEL, late, true, forced)).isEqualTo(sampled);
    }
}
