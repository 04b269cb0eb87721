package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import roselle.backend.Device;
import roselle.cpu.CpuDevice;
import roselle.execution.QueuedDevice;
import roselle.testing.AheadDevices;
import roselle.testing.ConstrainedRequests;

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
}
