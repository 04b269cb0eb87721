package roselle.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.gotemplate.OllamaTemplate;
import roselle.tokenizer.format.TokenizerFixture;

/** How a model calls tools is found in what its template in Go's language writes, as in that of others. */
final class GoTemplateFormatsTest {
    private static final Path TEMPLATES = Path.of("../tools/gotemplates/templates");

    @ParameterizedTest
    @CsvSource({
        "turns, none",
        "messages, none",
        "last-user, mistral",
        "tagged-calls, hermes",
        "each-call-tagged, hermes",
        "bare-calls, llama3_json",
        "levels, openai",
    })
    void findsTheFormatOfCalls(String name, String format) throws IOException {
        String source = Files.readString(TEMPLATES.resolve(name + ".gotmpl"));
        var tokenizer = TokenizerFixture.ours(TokenizerFixture.json("gpt2"));
        var finder = new FormatFinder(tokenizer, source, Optional.of(OllamaTemplate.parse(name, source)));

        assertThat(finder.find(FormatFinder.AUTO).toolParser()).isEqualTo(format);
    }
}
