package roselle.tokenizer.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.GgufVocabulary;
import roselle.tokenizer.Tokenizer;

final class GgufTokensTest {
    private static final String TEXT = "I've 12345 apples,  two\n\n  pears & naïve 日本語 𝒜! don't SHOUT\tnow … 3.14 😁";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "llama3, gpt2, llama-bpe",
        "qwen2, gpt2, qwen2",
        "tekken, gpt2, tekken",
        "o200k, gpt2, gpt-4o",
        "gpt2, gpt2, gpt-2",
        "starcoder, gpt2, smollm",
        "llama2, llama, default",
        "phi3, llama, default",
    })
    void makesTheIdsThatTheFolderMakes(String family, String model, String pre) throws IOException {
        Files.write(folder.resolve("tokenizer.json"), TokenizerFixture.json(family));
        Tokenizer own = Tokenizers.fromFolder(folder);
        GgufVocabulary vocabulary = Tokenizers.toGguf(folder, own.vocabularySize() + 3, Map.of());
        assertThat(vocabulary.model()).isEqualTo(model);
        assertThat(vocabulary.pre()).isEqualTo(pre);
        assertThat(vocabulary.tokens()).hasSize(own.vocabularySize() + 3);
        assertThat(vocabulary.tokens().getLast()).isEqualTo("[PAD" + (own.vocabularySize() + 2) + "]");
        assertThat(vocabulary.typeOf(own.vocabularySize())).isEqualTo(GgufVocabulary.UNUSED);
        Tokenizer read = Tokenizers.fromGguf(vocabulary);
        for (boolean special : new boolean[] {false, true}) {
            var options = new EncodeOptions(special, true);
            for (String text : new String[] {TEXT, "", "hello", "<|im_end|>a</s>b<|eot_id|>"}) {
                assertThat(read.encode(text, options)).as(text).isEqualTo(own.encode(text, options));
            }
        }
        int[] ids = own.encode(TEXT, EncodeOptions.PLAIN);
        assertThat(read.decode(ids, true)).isEqualTo(own.decode(ids, true));
    }

    @Test
    void takesSentencePieceFirstWithItsScoresAndTypes() throws IOException {
        Files.write(folder.resolve("tokenizer.model"), TokenizerFixture.resource("/sentencepiece/bpe-bytes.model.gz"));
        Tokenizer own = Tokenizers.fromFolder(folder);
        write("tokenizer_config.json", """
                {"added_tokens_decoder": {"%d": {"content": "<|im_start|>", "special": false}}}""".formatted(own.vocabularySize()));
        GgufVocabulary vocabulary = Tokenizers.toGguf(folder, own.vocabularySize() + 2, Map.of());
        assertThat(vocabulary.model()).isEqualTo("llama");
        assertThat(vocabulary.scores()).hasSize(own.vocabularySize() + 2);
        int byteId = own.idOf("<0x41>").orElseThrow();
        assertThat(vocabulary.typeOf(byteId)).isEqualTo(GgufVocabulary.BYTE);
        assertThat(vocabulary.typeOf(own.idOf("<unk>").orElseThrow())).isEqualTo(GgufVocabulary.UNKNOWN);
        assertThat(vocabulary.typeOf(own.vocabularySize())).isEqualTo(GgufVocabulary.CONTROL);
        Tokenizer read = Tokenizers.fromGguf(vocabulary);
        assertThat(read.encode(TEXT, EncodeOptions.PLAIN)).isEqualTo(own.encode(TEXT, EncodeOptions.PLAIN));
    }

    @ParameterizedTest
    @CsvSource({"unigram-nfkc, is of type UNIGRAM; only byte pairs", "bpe-unknown, rewrites characters or drops spaces"
    })
    void refusesOtherSentencePieces(String name, String message) throws IOException {
        Files.write(
                folder.resolve("tokenizer.model"), TokenizerFixture.resource("/sentencepiece/" + name + ".model.gz"));
        assertThatThrownBy(() -> Tokenizers.toGguf(folder, 2000, Map.of()))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message);
    }

    @Test
    void knowsTheTokensThatTheConfigurationNames() throws IOException {
        Files.write(folder.resolve("tokenizer.json"), TokenizerFixture.json("qwen2"));
        write("tokenizer_config.json", """
                {"eos_token": {"content": "<|im_end|>"}, "pad_token": "<|endoftext|>", "bos_token": null,
                 "added_tokens_decoder": {"1010": {"content": "<tool▁call>", "special": false}}}""");
        GgufVocabulary vocabulary = Tokenizers.toGguf(folder, 1011, Map.of("eos_token_id", 0, "unknown_token_id", 7));
        assertThat(vocabulary.tokenIds())
                .containsOnly(
                        Map.entry("eos_token_id", 2),
                        Map.entry("padding_token_id", 0),
                        Map.entry("unknown_token_id", 7));
        assertThat(vocabulary.flags())
                .containsOnly(Map.entry("add_bos_token", false), Map.entry("add_eos_token", false));
        assertThat(vocabulary.tokens().get(1010)).isEqualTo("<tool call>");
        assertThat(vocabulary.typeOf(1010)).isEqualTo(GgufVocabulary.USER_DEFINED);
        assertThat(vocabulary.typeOf(1)).isEqualTo(GgufVocabulary.CONTROL);
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepseek3", "bloom"})
    void refusesPreTokenizersThatHaveNoName(String family) throws IOException {
        Files.write(folder.resolve("tokenizer.json"), TokenizerFixture.json(family));
        assertThatThrownBy(() -> Tokenizers.toGguf(folder, 2000, Map.of()))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("pre_tokenizer cuts text by rules for which no name of GGUF's is known here");
    }

    @Test
    void refusesOtherModelsAndTokensThatTheModelLacks() throws IOException {
        Files.write(folder.resolve("tokenizer.json"), TokenizerFixture.json("t5"));
        assertThatThrownBy(() -> Tokenizers.toGguf(folder, 2000, Map.of()))
                .hasMessageContaining("model.type is Unigram; only BPE is converted");
        Files.write(folder.resolve("tokenizer.json"), TokenizerFixture.json("falcon"));
        assertThatThrownBy(() -> Tokenizers.toGguf(folder, 2000, Map.of()))
                .hasMessageContaining("ends in no ByteLevel and has no byte_fallback");
        Files.write(folder.resolve("tokenizer.json"), TokenizerFixture.json("qwen2"));
        assertThatThrownBy(() -> Tokenizers.toGguf(folder, 999, Map.of()))
                .hasMessageContaining("is 999, but the model knows 999 tokens");
    }

    private void write(String name, String content) throws IOException {
        Files.write(folder.resolve(name), content.getBytes(StandardCharsets.UTF_8));
    }
}
