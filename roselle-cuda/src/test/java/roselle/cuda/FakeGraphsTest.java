package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import roselle.backend.Device;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.backend.step.StepProgram;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.step.StepGraphs;
import roselle.tensor.DataType;

/** Which steps are recorded and replayed, however many shapes a device has seen. */
class FakeGraphsTest {
    private static final int WIDTH = 64;
    private static final int MAX_ROWS = 4 * StepGraphs.MAX_GRAPHS;
    private static final StepLimits LIMITS = new StepLimits(MAX_ROWS, MAX_ROWS, MAX_ROWS, 64, 16);

    private final FakeDriver driver = new FakeDriver(Card.HOPPER);
    private final Device device = driver.open(DataType.BF16);
    private final Norm norm = new Norm(Norm.Kind.RMS, device.constants(new float[WIDTH]), 0f, null, 1e-5f);
    private final Rows rows = Rows.of(device.allocate(DataType.BF16, (long) MAX_ROWS * WIDTH), WIDTH);
    private final StepProgram program = this::normalise;

    @AfterEach
    void close() {
        device.close();
        assertThat(driver.leaks()).isEmpty();
    }

    private void normalise(Operations operations, StepInputs inputs) {
        operations.norm(rows, norm, rows, inputs.rows);
    }

    /** A decode step of so many sequences. */
    private void step(int sequences) {
        var inputs = new StepInputs(LIMITS, 1);
        inputs.sequences = sequences;
        inputs.rows = sequences;
        for (int s = 0; s <= sequences; s++) {
            inputs.rowStart[s] = s;
        }
        device.submit(inputs, program);
    }

    private int recorded() {
        return driver.count("cuStreamBeginCapture");
    }

    @Test
    void shapesThatComeOnceKeepNoOtherFromBeingRecorded() {
        for (int sequences = 2; sequences < MAX_ROWS; sequences++) {
            step(sequences);
        }
        assertThat(recorded()).isZero();
        step(1);
        step(1);
        step(1);
        assertThat(recorded()).isEqualTo(1);
        assertThat(driver.count("cuGraphLaunch")).isEqualTo(2);
    }

    @Test
    void theGraphThatWasUsedLongestAgoMakesRoomForANewOne() {
        int more = 8;
        for (int sequences = 1; sequences <= StepGraphs.MAX_GRAPHS + more; sequences++) {
            step(sequences);
            step(sequences);
            step(1); // stays in use all the time
            step(1);
        }
        assertThat(recorded()).isEqualTo(StepGraphs.MAX_GRAPHS + more);
        assertThat(driver.count("cuGraphExecDestroy"))
                .as("graphs that made room")
                .isEqualTo(more);
        step(1);
        step(StepGraphs.MAX_GRAPHS + more);
        assertThat(recorded()).as("both are there").isEqualTo(StepGraphs.MAX_GRAPHS + more);
        step(2);
        step(2);
        assertThat(recorded()).as("and this one is not").isEqualTo(StepGraphs.MAX_GRAPHS + more + 1);
    }
}
