package roselle.server.clients;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A Llama of one small layer, all zeros, with the demo model's tokenizer and a context for the longest prompts of programs. */
final class ScriptedModel {
    static final int CONTEXT = 200_000;

    private static final Path DEMO = Path.of("../roselle-engine/src/test/resources/demo-model");
    private static final int VOCABULARY = 4096;
    private static final int WIDTH = 32;
    private static final String CONFIG = """
            {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 4096, "hidden_size": 32,
             "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 32,
             "hidden_act": "silu", "max_position_embeddings": %d, "rms_norm_eps": 1e-05, "rope_theta": 10000.0,
             "tie_word_embeddings": true, "bos_token_id": 0, "eos_token_id": 2, "torch_dtype": "float32"}
            """.formatted(CONTEXT);

    private ScriptedModel() {}

    /** Writes it into a folder. */
    static Path write(Path folder) {
        try {
            Files.writeString(folder.resolve("config.json"), CONFIG);
            Files.copy(DEMO.resolve("tokenizer.json"), folder.resolve("tokenizer.json"));
            String settings = Files.readString(DEMO.resolve("tokenizer_config.json"));
            Files.writeString( // programs send system messages anywhere
                    folder.resolve("tokenizer_config.json"),
                    settings.replace(
                            "{{- raise_exception('a system message must come first') }}", "{{- message.content }}"));
            Files.write(folder.resolve("model.safetensors"), weights());
            return folder;
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    private static byte[] weights() {
        Map<String, List<Integer>> shapes = new LinkedHashMap<>();
        shapes.put("model.embed_tokens.weight", List.of(VOCABULARY, WIDTH));
        shapes.put("model.norm.weight", List.of(WIDTH));
        String layer = "model.layers.0.";
        for (String norm : List.of("input_layernorm", "post_attention_layernorm")) {
            shapes.put(layer + norm + ".weight", List.of(WIDTH));
        }
        for (String matrix : List.of(
                "self_attn.q_proj",
                "self_attn.k_proj",
                "self_attn.v_proj",
                "self_attn.o_proj",
                "mlp.gate_proj",
                "mlp.up_proj",
                "mlp.down_proj")) {
            shapes.put(layer + matrix + ".weight", List.of(WIDTH, WIDTH));
        }
        List<String> entries = new ArrayList<>();
        int bytes = 0;
        for (var shape : shapes.entrySet()) {
            int size = shape.getValue().stream().reduce(Float.BYTES, (a, b) -> a * b);
            entries.add("\"%s\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
                    .formatted(shape.getKey(), shape.getValue(), bytes, bytes + size));
            bytes += size;
        }
        byte[] head = ("{" + String.join(",", entries) + "}").getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(Long.BYTES + head.length + bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(head.length)
                .put(head)
                .array();
    }
}
