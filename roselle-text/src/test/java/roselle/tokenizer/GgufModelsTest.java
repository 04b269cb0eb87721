package roselle.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import roselle.tokenizer.format.Tokenizers;

/** GGUF's models bert, t5 and gemma4. */
class GgufModelsTest {
    @Test
    void cutsWordsIntoTheLongestPiecesForBert() {
        Tokenizer tokenizer = Tokenizers.fromGguf(new GgufVocabulary(
                "bert",
                "",
                List.of("[UNK]", "[CLS]", "[SEP]", "▁un", "▁play", "ing", "ed", "▁!", "▁世", "▁cafe"),
                new float[0],
                new int[] {2, 3, 3, 1, 1, 1, 1, 1, 1, 1},
                List.of(),
                Map.of("unknown_token_id", 0, "cls_token_id", 1, "seperator_token_id", 2),
                Map.of(),
                new byte[0]));
        assertThat(tokenizer.encode("Playing unplayed! 世 Café", EncodeOptions.PLAIN))
                .containsExactly(4, 5, 0, 7, 8, 9);
        assertThat(tokenizer.encode("played", new EncodeOptions(true, false))).containsExactly(1, 4, 6, 2);
    }

    /** The ids that Hugging Face's library gives for a tokenizer.json of these tokens and merges, with Gemma's normalizer. */
    @Test
    void mergesPiecesWithMarkedSpacesByRankForGemma4() {
        Tokenizer tokenizer = Tokenizers.fromGguf(new GgufVocabulary(
                "gemma4",
                "",
                List.of(
                        "<pad>", "<eos>", "<bos>", "<unk>", "▁", "a", "b", "▁a", "ab", "▁ab", "<0xC3>", "<0xA9>", "\n",
                        "\n\n"),
                new float[0],
                new int[] {3, 3, 3, 2, 1, 1, 1, 1, 1, 1, 6, 6, 1, 1},
                List.of("a b", "▁ a", "▁ ab", "\n \n"),
                Map.of("bos_token_id", 2, "eos_token_id", 1, "unknown_token_id", 3),
                Map.of("add_bos_token", true),
                new byte[0]));
        assertThat(tokenizer.encode("ab ab aé\n\n\nb", EncodeOptions.PLAIN))
                .containsExactly(8, 9, 7, 10, 11, 13, 12, 6);
        assertThat(tokenizer.encode(" a", new EncodeOptions(true, false))).containsExactly(2, 7);
    }

    @Test
    void findsTheBestSegmentationForT5() {
        Tokenizer tokenizer = Tokenizers.fromGguf(new GgufVocabulary(
                "t5",
                "",
                List.of("<pad>", "</s>", "<unk>", "▁", "▁a", "b", "▁ab", "c", "bc"),
                new float[] {0, 0, 0, -5, -2, -3, -4, -3, -4.5f},
                new int[] {3, 3, 2, 1, 1, 1, 1, 1, 1},
                List.of(),
                Map.of("unknown_token_id", 2, "eos_token_id", 1),
                Map.of("remove_extra_whitespaces", true),
                new byte[0]));
        assertThat(tokenizer.encode("  abc  ab ", EncodeOptions.PLAIN)).containsExactly(4, 8, 6);
        assertThat(tokenizer.encode("axya", new EncodeOptions(true, false))).containsExactly(4, 2, 1);
    }
}
