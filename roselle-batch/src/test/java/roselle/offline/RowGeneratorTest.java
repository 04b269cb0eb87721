package roselle.offline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import roselle.api.DeviceException;
import roselle.api.FailureKind;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.Prompt;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;

class RowGeneratorTest {
    @SuppressWarnings("NullAway.Init")
    private static Engine engine;

    @BeforeAll
    static void open() throws IOException {
        engine = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(Path.of("target", "models")))
                .with(new EngineConfig.BatchOptions(256, 8, 64, 0, 64)));
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    /** Requests for short answers, drawn with a seed of each prompt. */
    private record Prompts(RowGenerator generator) implements RowWork<Prompt, Answer> {
        @Override
        public Answer answer(Prompt row) {
            return generator.answer(request(row).build());
        }

        static GenerationRequestBuilder request(Prompt row) {
            return GenerationRequest.builder().prompt(row).maxTokens(6).seed(RowKey.seed(7, row));
        }

        @Override
        public long expectedTokens(Prompt row) {
            return 6;
        }

        @Override
        public long rowBytes(Prompt row) {
            return 100;
        }

        @Override
        public long answerBytes(Answer answer) {
            return 100;
        }
    }

    private static List<Prompt> prompts() {
        return IntStream.range(0, 12)
                .<Prompt>mapToObj(row -> new Prompt.Text("Tell me of the number " + row, true, false))
                .toList();
    }

    private static List<String> texts(List<Prompt> prompts, int places) {
        var work = new Prompts(new RowGenerator(engine));
        try (var answers = new OrderedRows<>(prompts.iterator(), work, new RowPool(places), 1 << 20)) {
            Iterable<Answer> once = () -> answers;
            return StreamSupport.stream(once.spliterator(), false)
                    .map(answer -> ((Answer.Generated) answer).text())
                    .toList();
        }
    }

    @Test
    void answersAreTheSameWhateverRunsBeside() {
        List<String> together = texts(prompts(), 16);
        assertThat(texts(prompts(), 1)).isEqualTo(together);
        assertThat(texts(prompts().reversed(), 3)).isEqualTo(together.reversed());
        assertThat(together).doesNotContain("").hasSize(12);
    }

    @Test
    void whatARowIsToBlameForIsItsAnswer() {
        var generator = new RowGenerator(engine);
        var tooLong = new Prompt.Text("word ".repeat(2000), true, false);
        assertThat(generator.answer(Prompts.request(tooLong).build()))
                .isInstanceOfSatisfying(Answer.Failed.class, failed -> {
                    assertThat(failed.kind()).isEqualTo(FailureKind.INVALID_REQUEST);
                    assertThat(failed.message()).contains("context");
                });
        var late = Prompts.request(prompts().getFirst()).deadline(Duration.ofNanos(1));
        assertThat(generator.answer(late.build()))
                .isInstanceOfSatisfying(
                        Answer.Failed.class, failed -> assertThat(failed.kind()).isEqualTo(FailureKind.DEADLINE));
    }

    @Test
    void aClosedEngineFailsItsCaller() throws IOException {
        var other = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(Path.of("target", "models"))));
        other.close();
        var generator = new RowGenerator(other);
        var request = Prompts.request(prompts().getFirst()).build();
        assertThatThrownBy(() -> generator.answer(request)).isInstanceOf(DeviceException.class);
    }
}
