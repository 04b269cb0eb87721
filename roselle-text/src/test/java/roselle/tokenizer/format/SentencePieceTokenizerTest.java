package roselle.tokenizer.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/** Ids and texts equal those of the sentencepiece package (tools/tokenizers/train_sentencepiece.py). */
class SentencePieceTokenizerTest {
    @ParameterizedTest
    @ValueSource(strings = {"unigram-bytes", "unigram-nfkc", "bpe-bytes", "bpe-unknown", "unigram-suffix"})
    void encodesAndDecodesAsSentencePieceDoes(String name) {
        Tokenizer tokenizer = read(model(name));
        JsonNode vectors =
                new ObjectMapper().readTree(TokenizerFixture.resource("/sentencepiece/" + name + ".vectors.json.gz"));
        assertThat(vectors.size()).isGreaterThan(500);
        for (JsonNode vector : vectors) {
            int[] ids = new int[vector.get("ids").size()];
            Arrays.setAll(ids, i -> vector.get("ids").get(i).intValue());
            if (vector.has("text")) {
                String text = vector.get("text").stringValue();
                assertThat(tokenizer.encode(text, EncodeOptions.PLAIN)).as(text).isEqualTo(ids);
            }
            String decoded = vector.get("decoded").stringValue();
            assertThat(tokenizer.decode(ids, true)).as(Arrays.toString(ids)).isEqualTo(decoded);
        }
    }

    @Test
    void addsTheBeginningToBytePairsAndTheEndToUnigram() {
        Tokenizer bytePairs = read(model("bpe-bytes"));
        Tokenizer unigram = read(model("unigram-nfkc"));
        var withSpecial = new EncodeOptions(true, false);
        assertThat(bytePairs.encode("a", withSpecial)[0])
                .isEqualTo(bytePairs.idOf("<s>").orElseThrow());
        int[] ids = unigram.encode("a", withSpecial);
        assertThat(ids[ids.length - 1]).isEqualTo(unigram.idOf("</s>").orElseThrow());
    }

    @Test
    void refusesEveryTruncationInOneSentenceOrReadsWhatIsThere() {
        byte[] model = model("bpe-unknown");
        for (int length = 0; length < model.length; length += length < 400 ? 1 : 37) {
            byte[] truncated = Arrays.copyOf(model, length);
            try {
                read(truncated);
            } catch (CheckpointException refused) {
                assertThat(refused.getMessage()).startsWith("tokenizer.model").doesNotContain("\n");
            }
        }
    }

    @Test
    void doesNotAllocateWhatALengthAsksFor() {
        byte[] hostile = {10, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, 7, 1, 2, 3};
        assertThatThrownBy(() -> read(hostile))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("longer than the 3 that follow");
    }

    @Test
    void refusesAModelWithoutUnknownToken() {
        byte[] piece = {10, 3, 10, 1, 'a'};
        assertThatThrownBy(() -> read(piece))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("no piece of type 2");
        assertThatThrownBy(() -> read("not a model".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("tokenizer.model");
    }

    private static byte[] model(String name) {
        return TokenizerFixture.resource("/sentencepiece/" + name + ".model.gz");
    }

    private static Tokenizer read(byte[] content) {
        return SentencePieceTokenizer.read(content, "tokenizer.model", TokenizerConfig.NONE);
    }
}
