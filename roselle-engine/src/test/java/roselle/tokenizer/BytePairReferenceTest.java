package roselle.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.checkpoint.path.Checkpoints;
import roselle.testing.SharedData;

/** Real vocabularies give the ids and the text that Hugging Face's library gives, whatever the text. */
@Tag("shared-data")
class BytePairReferenceTest {
    private static final long SEED = 20_261_121;

    @ParameterizedTest
    @ValueSource(strings = {"gpt-2", "deepseek-coder", "falcon", "llama-spm"})
    void thousandsOfRandomTextsAgree(String name) throws IOException {
        compare(name, 4_000, SEED);
    }

    @ParameterizedTest
    @Tag("long")
    @ValueSource(strings = {"gpt-2", "deepseek-coder", "falcon", "llama-spm"})
    void tensOfThousandsOfRandomTextsAgree(String name) throws IOException {
        compare(name, 40_000, SEED + 1);
    }

    private static void compare(String name, int texts, long seed) throws IOException {
        System.out.println("seed " + seed);
        var random = new RandomText(seed);
        var ids = new Random(seed);
        try (var checkpoint = Checkpoints.open(SharedData.path("vocab/ggml-vocab-" + name + ".gguf"));
                var reference = new HuggingFaceReference(GgufAsTokenizerJson.of(name))) {
            var tokenizer = checkpoint.tokenizer();
            for (int i = 0; i < texts; i++) {
                String text = random.next();
                int[] expected = reference.encode(text);
                int[] actual = tokenizer.encode(text, new EncodeOptions(false, true));
                assertThat(actual).as("text %d, seed %d: %s", i, seed, text).containsExactly(expected);
                compareDecoding(tokenizer, reference, expected);
                int[] noise =
                        ids.ints(ids.nextInt(20), 0, tokenizer.vocabularySize()).toArray();
                compareDecoding(tokenizer, reference, noise);
            }
        }
    }

    private static void compareDecoding(Tokenizer tokenizer, HuggingFaceReference reference, int[] ids) {
        boolean isByteLevel = tokenizer.idOf("\u0120the").isPresent();
        if (isByteLevel && IntStream.of(ids).anyMatch(id -> isMisread(tokenizer, id))) {
            return;
        }
        String expected = reference.decode(ids, false);
        assertThat(tokenizer.decode(ids, false)).isEqualTo(expected);
        var decoder = tokenizer.incrementalDecoder(false);
        var text = new StringBuilder();
        for (int id : ids) {
            text.append(decoder.append(id));
        }
        assertThat(text.append(decoder.finish()).toString()).isEqualTo(expected);
        assertThat(tokenizer.decode(ids, true)).isEqualTo(reference.decode(ids, true));
    }

    /**
     * Whether the reference takes an added token's spelling, such as deepseek-coder's "\u00fc", for the spelling of a byte,
     * and so decodes it to another text than it encoded. Read from GGUF, such a token stands for itself.
     */
    private static boolean isMisread(Tokenizer tokenizer, int id) {
        String spelling = tokenizer.spellingOf(id);
        return spelling.length() == 1 && spelling.charAt(0) > 0x7F && tokenizer.bytesOf(id).length > 1;
    }
}
