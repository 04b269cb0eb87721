package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.cuda.FakeDriver.Card;
import roselle.engine.SteppedLoop;
import roselle.engine.SteppedLoop.Asked;
import roselle.tensor.DataType;
import roselle.testing.ConstrainedRequests;
import roselle.testing.ForcedRequests;

/** Masks reach the device with the rows that they are for, with the same tokens whether or not steps are launched ahead. */
class FakeConstraintTest {
    private static final Path GPT2 = Path.of("../roselle-engine/src/test/resources/tiny-models/gpt2");

    private static List<List<Integer>> answers(List<Asked> all, boolean overlaps) {
        var driver = new FakeDriver(Card.HOPPER);
        var sampler = new FakeSampler(driver);
        driver.whenRun(sampler::run);
        List<List<Integer>> answers = SteppedLoop.answers(GPT2, driver.open(DataType.BF16), overlaps, all);
        assertThat(driver.leaks()).isEmpty();
        assertThat(driver.reach().taken())
                .as("rows that took tokens on the device")
                .isBetween(overlaps ? 100 : 0, overlaps ? 1000 : 0);
        return answers;
    }

    @Test
    void constrainedSequencesHaveAllowedTokensAloneAndTheSameOnesHoweverTheyRun() {
        List<Asked> all = ConstrainedRequests.of(320);
        List<List<Integer>> plain = answers(all, false);
        ConstrainedRequests.check(all, plain);
        assertThat(answers(all, true)).isEqualTo(plain);
    }

    @Test
    void tokensThatMustComeAreTheSameWithoutSampling() {
        List<List<Integer>> sampled = answers(ForcedRequests.of(320, false), false);
        assertThat(answers(ForcedRequests.of(320, true), false)).isEqualTo(sampled);
        assertThat(answers(ForcedRequests.of(320, true), true)).isEqualTo(sampled);
    }
}
