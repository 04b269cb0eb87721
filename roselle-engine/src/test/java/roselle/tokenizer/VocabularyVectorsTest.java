package roselle.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.checkpoint.path.Checkpoints;
import roselle.testing.SharedData;

/** Four real vocabularies give the ids that llama.cpp's test vectors ask for. */
@Tag("shared-data")
class VocabularyVectorsTest {
    private static final String SEPARATOR = "\n__ggml_vocab_test__\n";

    @ParameterizedTest
    @ValueSource(strings = {"gpt-2", "deepseek-coder", "falcon", "llama-spm"})
    void everyVectorIsExact(String name) throws IOException {
        var tokenizer = open("vocab/ggml-vocab-" + name + ".gguf");
        List<String> texts = vectors(name, ".inp", SEPARATOR);
        List<String> lines = vectors(name, ".out", "\n");
        assertThat(texts).hasSizeGreaterThan(40);
        for (int i = 0; i < texts.size(); i++) {
            int[] expected = Arrays.stream(lines.get(i).strip().split("\\s+"))
                    .filter(word -> !word.isEmpty())
                    .mapToInt(Integer::parseInt)
                    .toArray();
            int[] actual = tokenizer.encode(texts.get(i), EncodeOptions.PLAIN);
            assertThat(actual).as("vector %d of %s: %s", i, name, texts.get(i)).containsExactly(expected);
            assertThat(tokenizer.decode(actual, false))
                    .as("vector %d of %s, decoded", i, name)
                    .isEqualTo(texts.get(i));
        }
    }

    private static List<String> vectors(String name, String ending, String separator) throws IOException {
        String all = Files.readString(SharedData.path("vocab/ggml-vocab-" + name + ".gguf" + ending));
        return Arrays.asList(all.split(java.util.regex.Pattern.quote(separator), -1)).reversed().stream()
                .skip(1) // what follows the last separator is nothing
                .toList()
                .reversed();
    }

    @Test
    void specialSpellingsAreTextUnlessAskedFor() {
        var tokenizer = open("vocab/ggml-vocab-gpt-2.gguf");
        int end = tokenizer.idOf("<|endoftext|>").orElseThrow();
        String text = "a<|endoftext|>b";
        assertThat(tokenizer.encode(text, EncodeOptions.PLAIN)).doesNotContain(end);
        assertThat(tokenizer.encode(text, new EncodeOptions(false, true))).containsExactly(64, end, 65);
        assertThat(tokenizer.decode(tokenizer.encode(text, EncodeOptions.PLAIN), true))
                .isEqualTo(text);
        assertThat(tokenizer.decode(new int[] {64, end, 65}, true)).isEqualTo("ab");
        assertThat(tokenizer.bytesOf(end)).isEmpty();
    }

    @Test
    void sentencePieceTextCanNotSpellAControlToken() {
        var tokenizer = open("vocab/ggml-vocab-llama-spm.gguf");
        int[] ids = tokenizer.encode("<s></s><unk><0x41>", EncodeOptions.PLAIN);
        assertThat(ids).doesNotContain(0, 1, 2, tokenizer.idOf("<0x41>").orElseThrow());
        assertThat(tokenizer.decode(ids, false)).isEqualTo("<s></s><unk><0x41>");
        assertThat(tokenizer.encode("a", new EncodeOptions(true, false))).startsWith(1);
    }

    private static Tokenizer open(String path) {
        try (var checkpoint = Checkpoints.open(SharedData.path(path))) {
            return checkpoint.tokenizer();
        }
    }
}
