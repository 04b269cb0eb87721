package roselle.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import roselle.tokenizer.format.Tokenizers;

/** GGUF's models bert and t5. */
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
