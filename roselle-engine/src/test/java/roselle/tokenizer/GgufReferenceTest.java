package roselle.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.checkpoint.path.Checkpoints;
import roselle.tokenizer.format.TokenizerFixture;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** GGUF's models bert and t5 give the ids and texts that llama.cpp gives (tools/tokenizers/gguf_golden.py). */
class GgufReferenceTest {
    private static final int BLOCK = 128;

    @TempDir
    private Path folder = Path.of("");

    @ParameterizedTest
    @ValueSource(strings = {"bert", "bert-cased", "t5", "t5-spaces", "t5-plain"})
    void givesTheIdsOfTheReference(String name) throws IOException {
        JsonNode golden = golden(name);
        Tokenizer tokenizer = tokenizer(name);
        assertThat(golden.get("texts").size()).isGreaterThanOrEqualTo(500);
        for (int i = 0; i < golden.get("texts").size(); i++) {
            String text = golden.get("texts").get(i).stringValue();
            assertThat(tokenizer.encode(text, EncodeOptions.PLAIN))
                    .as(text)
                    .isEqualTo(ids(golden.get("plain").get(i)));
            assertThat(tokenizer.encode(text, new EncodeOptions(false, true)))
                    .as(text)
                    .isEqualTo(ids(golden.get("special").get(i)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"t5", "t5-spaces", "t5-plain"})
    void givesTheTextOfTheReference(String name) throws IOException {
        JsonNode golden = golden(name);
        Tokenizer tokenizer = tokenizer(name);
        for (int i = 0; i < golden.get("texts").size(); i++) {
            assertThat(tokenizer.decode(ids(golden.get("plain").get(i)), true))
                    .isEqualTo(golden.get("decoded").get(i).stringValue());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bert", "bert-cased"})
    void takesEveryCodePointAsTheReferenceDoes(String name) throws IOException {
        JsonNode blocks = golden(name).get("blocks");
        Tokenizer tokenizer = tokenizer(name);
        assertThat(blocks.size()).isGreaterThan(1000);
        for (var block : blocks.properties()) {
            int start = Integer.parseInt(block.getKey());
            String text = IntStream.range(Math.max(1, start), start + BLOCK)
                    .filter(codePoint -> Character.getType(codePoint) != Character.SURROGATE)
                    .mapToObj(codePoint -> "a" + Character.toString(codePoint) + "b")
                    .collect(Collectors.joining(" "));
            assertThat(tokenizer.encode(text, EncodeOptions.PLAIN))
                    .as("from U+%X", start)
                    .isEqualTo(ids(block.getValue()));
        }
    }

    private Tokenizer tokenizer(String name) throws IOException {
        Path file = Files.write(folder.resolve("model.gguf"), TokenizerFixture.resource("/gguf/" + name + ".gguf.gz"));
        try (var checkpoint = Checkpoints.open(file)) {
            return checkpoint.tokenizer();
        }
    }

    private static JsonNode golden(String name) {
        return new JsonMapper().readTree(TokenizerFixture.resource("/gguf/" + name + ".json.gz"));
    }

    private static int[] ids(JsonNode ids) {
        return ids.valueStream().mapToInt(JsonNode::intValue).toArray();
    }
}
