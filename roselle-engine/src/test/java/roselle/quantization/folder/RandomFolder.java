package roselle.quantization.folder;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import roselle.checkpoint.huggingface.SafetensorsWriter;
import roselle.quantization.encoding.Encoder;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** A small Llama of random numbers in two files, wide enough for groups of 128 but for one matrix. */
public final class RandomFolder {
    public static final String FIRST = "model-00001-of-00002.safetensors";
    public static final String SECOND = "model-00002-of-00002.safetensors";

    /** A matrix whose columns are no multiple of 128, and is in the second file. */
    public static final String NARROW = "model.layers.1.mlp.down_proj";

    private static final int HIDDEN = 128;
    private static final int INNER = 208;
    private static final int VOCABULARY = 320;

    private RandomFolder() {}

    /** Writes the model, with files beside it of which the weights of other forms are no part. */
    public static void write(Path folder, DataType type) throws IOException {
        Files.createDirectories(folder.resolve("1_Extra"));
        Files.writeString(folder.resolve("config.json"), """
                {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": 128,
                 "intermediate_size": 208, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2,
                 "max_position_embeddings": 256, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "vocab_size": 320,
                 "eos_token_id": 2, "tie_word_embeddings": false}""");
        Files.writeString(folder.resolve("generation_config.json"), "{\"eos_token_id\": 2}");
        Files.writeString(folder.resolve("1_Extra/config.json"), "{}");
        Files.writeString(folder.resolve("pytorch_model.bin"), "pickled");
        Files.writeString(folder.resolve(".hidden"), "nothing");
        var random = new Random(20_261_201);
        Map<String, List<Tensor>> files = new TreeMap<>();
        var index = new ArrayList<String>();
        shapes().forEach((name, shape) -> {
            String file = name.contains("layers.1.") || name.contains("lm_head") ? SECOND : FIRST;
            index.add("\"" + name + "\": \"" + file + "\"");
            files.computeIfAbsent(file, _ -> new ArrayList<>()).add(tensor(name, type, shape, random));
        });
        for (var file : files.entrySet()) {
            Files.write(folder.resolve(file.getKey()), SafetensorsWriter.toBytes(file.getValue()));
        }
        Files.writeString(
                folder.resolve("model.safetensors.index.json"),
                "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {" + String.join(",", index) + "}}");
    }

    private static Map<String, Shape> shapes() {
        Map<String, Shape> shapes = new TreeMap<>();
        shapes.put("model.embed_tokens.weight", Shape.of(VOCABULARY, HIDDEN));
        shapes.put("lm_head.weight", Shape.of(VOCABULARY, HIDDEN));
        shapes.put("model.norm.weight", Shape.of(HIDDEN));
        for (int layer = 0; layer < 2; layer++) {
            String base = "model.layers." + layer + ".";
            shapes.put(base + "input_layernorm.weight", Shape.of(HIDDEN));
            shapes.put(base + "post_attention_layernorm.weight", Shape.of(HIDDEN));
            shapes.put(base + "self_attn.q_proj.weight", Shape.of(HIDDEN, HIDDEN));
            shapes.put(base + "self_attn.k_proj.weight", Shape.of(HIDDEN / 2, HIDDEN));
            shapes.put(base + "self_attn.v_proj.weight", Shape.of(HIDDEN / 2, HIDDEN));
            shapes.put(base + "self_attn.o_proj.weight", Shape.of(HIDDEN, HIDDEN));
            shapes.put(base + "mlp.gate_proj.weight", Shape.of(INNER, HIDDEN));
            shapes.put(base + "mlp.up_proj.weight", Shape.of(INNER, HIDDEN));
            shapes.put(base + "mlp.down_proj.weight", Shape.of(HIDDEN, INNER));
        }
        return shapes;
    }

    /** Numbers of many sizes, and rows that are zeros. */
    private static Tensor tensor(String name, DataType type, Shape shape, Random random) {
        int count = Math.toIntExact(shape.elements());
        var numbers = new float[count];
        for (int i = 0; i < count; i++) {
            boolean isZero = shape.rank() == 2 && i / shape.columns() % 17 == 3;
            double size = Math.exp(random.nextGaussian());
            numbers[i] = isZero ? 0 : (float) (random.nextGaussian() * size * 0.05);
        }
        var bytes = new byte[count * type.blockBytes()];
        Encoder.of(type).orElseThrow().encode(numbers, null, bytes, 0);
        return new Tensor(name, type, shape, MemorySegment.ofArray(bytes));
    }
}
