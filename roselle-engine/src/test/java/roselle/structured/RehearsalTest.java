package roselle.structured;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.grammar.mask.Vocabulary;

/** What is followed before anyone asks. */
final class RehearsalTest {
    @Test
    void followsItsAnswersToTheirEnd() {
        try (Checkpoint checkpoint = Checkpoints.open(Path.of("src/test/resources/demo-model"))) {
            var tokenizer = checkpoint.tokenizer();
            var vocabulary = Vocabulary.of(tokenizer, tokenizer.vocabularySize(), new int[] {0});
            assertThat(Rehearsal.follow(tokenizer, vocabulary)).isEqualTo(Rehearsal.ANSWERS);
        }
    }

    @Test
    @Tag("long")
    void followsAnswersOverTokensOfNoModel() {
        assertThat(Rehearsal.followWithoutModel()).isEqualTo(200);
    }
}
