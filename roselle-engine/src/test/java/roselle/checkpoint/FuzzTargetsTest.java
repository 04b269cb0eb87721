package roselle.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import roselle.checkpoint.gguf.GgufFuzzTarget;
import roselle.checkpoint.gguf.GgufWriter;
import roselle.checkpoint.huggingface.FolderFuzzTarget;
import roselle.checkpoint.huggingface.SafetensorsFuzzTarget;
import roselle.checkpoint.huggingface.SafetensorsInMemory;
import roselle.checkpoint.huggingface.SafetensorsWriter;
import roselle.tensor.DataType;

/** Runs the fuzz targets over seeded mutations: about a second each, and minutes with the tag "long". */
@Timeout(600)
class FuzzTargetsTest {
    private static final long SEED = 20260704;

    @Test
    void ggufSurvivesMutations() {
        run(GgufFuzzTarget::fuzzerTestOneInput, ggufSeeds(), 3_000);
    }

    @Test
    void safetensorsSurvivesMutations() {
        run(SafetensorsFuzzTarget::fuzzerTestOneInput, safetensorsSeeds(), 10_000);
    }

    @Test
    void foldersSurviveMutations() {
        run(FolderFuzzTarget::fuzzerTestOneInput, folderSeeds(), 1_500);
    }

    @Test
    @Tag("long")
    void allSurviveManyMutations() {
        run(GgufFuzzTarget::fuzzerTestOneInput, ggufSeeds(), 200_000);
        run(SafetensorsFuzzTarget::fuzzerTestOneInput, safetensorsSeeds(), 1_000_000);
        run(FolderFuzzTarget::fuzzerTestOneInput, folderSeeds(), 50_000);
    }

    @Test
    void mutationsReachBothOutcomes() {
        Mutations mutations = new Mutations(SEED, safetensorsSeeds());
        long opened = IntStream.range(0, 500)
                .filter(_ -> {
                    byte[] file = mutations.next();
                    return InMemory.opensOrRefuses(() -> SafetensorsInMemory.read(file));
                })
                .count();
        assertThat(opened).isBetween(10L, 490L);
    }

    private static void run(Consumer<byte[]> target, List<byte[]> seeds, int count) {
        Mutations mutations = new Mutations(SEED, seeds);
        for (int i = 0; i < count; i++) {
            byte[] file = mutations.next();
            assertThatCode(() -> target.accept(file))
                    .as(
                            "mutation %d of seed %d: %s",
                            i, SEED, new Lazy(() -> Base64.getEncoder().encodeToString(file)))
                    .doesNotThrowAnyException();
        }
    }

    /** Text that is made only for a message. */
    private record Lazy(Supplier<String> text) {
        @Override
        public String toString() {
            return text.get();
        }
    }

    private static List<byte[]> ggufSeeds() {
        return List.of(
                new GgufWriter()
                        .alignment(32)
                        .put("general.architecture", "llama")
                        .put("tokenizer.ggml.model", "gpt2")
                        .put("tokenizer.ggml.tokens", List.of("a", "b"))
                        .put("tokenizer.ggml.scores", new float[] {1, 2})
                        .put("tokenizer.ggml.bos_token_id", 1)
                        .tensor("t", DataType.F32, 2, 3)
                        .tensor("q", DataType.Q4_K, 1, 256)
                        .toBytes(),
                new GgufWriter().version(2).put("f", 1.5f).put("b", true).toBytes());
    }

    private static List<byte[]> safetensorsSeeds() {
        return List.of(SafetensorsWriter.toBytes("""
                        {"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},\
                        "b":{"dtype":"BF16","shape":[],"data_offsets":[24,26]}}""", new byte[26]), SafetensorsWriter.toBytes("{}", new byte[0]));
    }

    private static List<byte[]> folderSeeds() {
        return List.of(
                json(
                        0,
                        "{\"model_type\":\"llama\",\"hidden_size\":64,\"rope_scaling\":{\"type\":\"yarn\"},\"eos\":[1,2]}"),
                json(0, "{\"num_hidden_layers\":2,\"num_attention_heads\":4,\"hidden_size\":64,\"vocab_size\":9}"),
                json(1, "{\"temperature\":0.6,\"do_sample\":true,\"eos_token_id\":null}"),
                json(2, "{\"chat_template\":[{\"name\":\"default\",\"template\":\"{{ x }}\"}],\"a\":1e-5}"),
                json(3, "{\"chat_template\":\"{{ '\\u00e9\\n' }}\"}"),
                json(4, "{\"metadata\":{},\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\"}}"));
    }

    private static byte[] json(int file, String text) {
        byte[] bytes = (" " + text).getBytes(StandardCharsets.UTF_8);
        bytes[0] = (byte) file;
        return bytes;
    }
}
