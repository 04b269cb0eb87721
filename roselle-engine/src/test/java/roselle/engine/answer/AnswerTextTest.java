package roselle.engine.answer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import roselle.checkpoint.path.Checkpoints;
import roselle.conversation.ConversationFormat;
import roselle.conversation.FormatFinder;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/** Special tokens keep their places among text, also where that is held back for a stop string. */
final class AnswerTextTest {
    private static final Path MODEL = Path.of("src/test/resources/demo-model");

    private String raw = "";
    private String marked = "";

    @Test
    void aMarkComesBehindTheTextThatWasHeldBack() {
        try (var checkpoint = Checkpoints.open(MODEL)) {
            Tokenizer tokenizer = checkpoint.tokenizer();
            var format = format(tokenizer);
            int call = tokenizer.idOf("<|tool_call|>").orElseThrow();
            var text = new AnswerText(tokenizer, format, new int[0], List.of("END"));

            tell(text, tokenizer, "Say EN");
            assertThat(raw).isEqualTo("Say ");
            take(text.append(call), text);
            assertThat(marked).isEqualTo("Say ");
            tell(text, tokenizer, "x");

            assertThat(raw).isEqualTo("Say ENx");
            assertThat(marked).isEqualTo("Say EN" + format.letter(call) + "x");
        }
    }

    @Test
    void nothingBehindAStopStringIsTold() {
        try (var checkpoint = Checkpoints.open(MODEL)) {
            Tokenizer tokenizer = checkpoint.tokenizer();
            int call = tokenizer.idOf("<|tool_call|>").orElseThrow();
            var text = new AnswerText(tokenizer, format(tokenizer), new int[0], List.of("END"));

            tell(text, tokenizer, "Say E");
            take(text.append(call), text);
            tell(text, tokenizer, "ND");
            take(text.finish(), text);

            assertThat(text.match()).isEqualTo("END"); // special tokens are no part of the text
            assertThat(raw).isEqualTo("Say ");
            assertThat(marked).isEqualTo("Say ");
        }
    }

    private static ConversationFormat format(Tokenizer tokenizer) {
        return new FormatFinder(tokenizer, "", Optional.empty()).find("roselle");
    }

    private void tell(AnswerText text, Tokenizer tokenizer, String written) {
        for (int id : tokenizer.encode(written, new EncodeOptions(false, false))) {
            take(text.append(id), text);
        }
    }

    private void take(String told, AnswerText text) {
        raw += told;
        marked += text.marked();
    }
}
