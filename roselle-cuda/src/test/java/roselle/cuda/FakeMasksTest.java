package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import roselle.backend.Device;
import roselle.backend.memory.Rows;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.cuda.FakeDriver.Card;
import roselle.tensor.DataType;

/** Masks that the device has already are not brought again, and no row gets another's. */
class FakeMasksTest {
    private static final int ROWS = 8;
    private static final int VOCABULARY = 200;
    private static final String COPY = "cuMemcpyHtoDAsync";

    private final FakeDriver driver = new FakeDriver(Card.HOPPER);
    private final SamplingRows sampling = new SamplingRows(ROWS, 0);
    private final SampledTokens tokens = new SampledTokens(ROWS);
    private Device device;
    private Rows logits;

    @BeforeEach
    void open() {
        var sampler = new FakeSampler(driver);
        driver.whenRun(sampler::run);
        device = driver.open(DataType.BF16);
        logits = Rows.of(device.allocate(DataType.F32, (long) ROWS * VOCABULARY), VOCABULARY);
    }

    @AfterEach
    void close() {
        device.close();
        assertThat(driver.leaks()).isEmpty();
    }

    private static long[] only(int token) {
        long[] mask = new long[(VOCABULARY + 63) / 64];
        mask[token >> 6] = 1L << token;
        return mask;
    }

    /** Samples a token for each row; returns how many copies to the device that took. */
    private int sample(IntFunction<long[]> masks) {
        int before = driver.count(COPY);
        sampling.begin(ROWS);
        for (int row = 0; row < ROWS; row++) {
            sampling.mask[row] = masks.apply(row);
            sampling.settlePlace(row);
            assertThat(sampling.place[row]).isEqualTo(SamplingRows.Place.DEVICE);
        }
        device.sample(logits, sampling, tokens);
        return driver.count(COPY) - before;
    }

    @Test
    void rowsOfThisAndOfLaterStepsShareThem() {
        long[] first = only(7);
        long[] second = only(199);
        assertThat(sample(row -> row % 2 == 0 ? first : second))
                .as("two masks at once")
                .isEqualTo(1);
        assertThat(tokens.token).containsExactly(7, 199, 7, 199, 7, 199, 7, 199);
        assertThat(sample(row -> row < 3 ? second : first)).isZero();
        assertThat(tokens.token).containsExactly(199, 199, 199, 7, 7, 7, 7, 7);
    }

    @Test
    void newOnesTakeThePlacesOfThoseThatNoRowOfTheStepHas() {
        long[] kept = only(3);
        for (int step = 0; step < 300; step++) {
            int turn = step;
            int copies = sample(row -> row == 5 ? kept : only((turn + row) % VOCABULARY));
            assertThat(copies).isBetween(1, 3); // new masks, in parts before and behind one that stays, or the end
            for (int row = 0; row < ROWS; row++) {
                assertThat(tokens.token[row]).isEqualTo(row == 5 ? 3 : (turn + row) % VOCABULARY);
            }
        }
    }

    @Test
    void theyAreBroughtAnewToADeviceThatSlept() {
        long[] mask = only(42);
        sample(_ -> mask);
        device.sleep();
        device.wake();
        assertThat(sample(_ -> mask)).isEqualTo(1);
        assertThat(tokens.token).containsOnly(42);
    }
}
