package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CheckpointException;
import roselle.backend.memory.KvGroup;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.architecture.Architectures;
import roselle.model.spec.DecoderSpec;
import roselle.model.weights.UnusedTensors;

/** What only Gemma 4 has: layers that share keys, heads of two sizes, and fields of its own. */
class Gemma4Test {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/similar-models");

    @TempDir
    private Path folder;

    @Test
    void layersThatShareKeysTakeNoPages() {
        DecoderSpec spec = spec(MODELS.resolve("gemma4_text")); // of six layers the last two share
        assertThat(spec.kvGroups())
                .containsExactly(new KvGroup("window", 2, 2, 8, 8, 8), new KvGroup("full", 2, 2, 16, 16, 0));
        assertThat(spec.sourceOfKeys(1)).isEqualTo(1);
        assertThat(spec.sourceOfKeys(4)).isEqualTo(2);
        assertThat(spec.sourceOfKeys(5)).isEqualTo(3);
        assertThat(spec.groupsOfLayers()[4]).isEqualTo(spec.groupsOfLayers()[2]);
    }

    @Test
    void readsTheSizesOfPublishedConfigurations() {
        assertThat(spec(MODELS.resolve("gemma4")).kvGroups())
                .containsExactly(new KvGroup("window", 3, 2, 8, 8, 8), new KvGroup("full", 1, 1, 16, 16, 0));
    }

    /** Published checkpoints have them all the same. */
    @Test
    void ignoresTheKeysOfLayersThatShareThem() {
        var unused = UnusedTensors.of(spec(MODELS.resolve("gemma4_text")));
        for (String part : new String[] {"k_proj", "v_proj", "k_norm"}) {
            assertThat(unused.mayIgnore("model.layers.4.self_attn." + part + ".weight"))
                    .isTrue();
            assertThat(unused.mayIgnore("model.layers.3.self_attn." + part + ".weight"))
                    .isFalse();
        }
        assertThat(unused.mayIgnore("blk.5.attn_v.weight")).isTrue();
        assertThat(unused.mayIgnore("blk.5.attn_q.weight")).isFalse();
        assertThat(unused.mayIgnore("model.layers.4.self_attn.q_proj.weight")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "use_bidirectional_attention, '\"all\"', use_bidirectional_attention is all",
        "vocab_size_per_layer_input,  '7',       vocab_size_per_layer_input is 7",
        "num_kv_shared_layers,        '5',       num_kv_shared_layers is 5",
        "attention_bias,              'true',    attention_bias is true",
        "num_attention_heads,         '3',       3 attention heads cannot share 2 key heads",
        "hidden_activation,           '\"mish\"', hidden_activation is mish"
    })
    void namesWhatItDoesNotSupport(String field, String value, String message) throws IOException {
        Path model = MODELS.resolve("gemma4_text");
        String config = Files.readString(model.resolve("config.json"));
        String changed = config.replaceFirst("\"" + field + "\": [^,\\n]+", "\"" + field + "\": " + value);
        assertThat(changed).isNotEqualTo(config);
        Files.writeString(folder.resolve("config.json"), changed);
        Files.copy(model.resolve("model.safetensors"), folder.resolve("model.safetensors"));
        assertThatThrownBy(() -> spec(folder))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message);
    }

    private static DecoderSpec spec(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return Architectures.read(checkpoint).spec();
        }
    }
}
