package roselle.checkpoint.gguf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.checkpoint.path.Checkpoints;
import roselle.testing.SharedData;

/** Vocabularies of others in GGUF. */
@Tag("shared-data")
class SharedVocabulariesTest {
    @Test
    void opensVocabulariesWithoutTensors() {
        for (String name : new String[] {"gpt-2", "llama-spm", "falcon", "deepseek-coder"}) {
            try (var checkpoint = Checkpoints.open(SharedData.path("vocab/ggml-vocab-" + name + ".gguf"))) {
                assertThat(checkpoint.tensors()).isEmpty();
                var vocabulary = GgufTokenizerKeys.vocabulary((GgufMetadata) checkpoint.config());
                assertThat(vocabulary.tokens()).hasSizeGreaterThan(30_000);
                assertThat(vocabulary.tokenIds()).isNotEmpty();
            }
        }
    }
}
