package roselle.cli;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** Makes a tiny model of the engine's tests talk: it has random weights, and here gets a tokenizer of bytes. */
public final class TinyModels {
    private static final Path LLAMA = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");
    private static final int VOCABULARY = 320;
    private static final int FIRST_BYTE = 3;

    private TinyModels() {}

    /** A Llama with a context of 256 tokens, whose tokens are the 256 bytes and a few words. */
    public static void copyWithTokenizer(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.copy(LLAMA.resolve("config.json"), folder.resolve("config.json"));
        Files.copy(LLAMA.resolve("model.safetensors"), folder.resolve("model.safetensors"));
        var tokenizer = Map.of(
                "added_tokens",
                List.of(added(0, "<pad>"), added(1, "<s>"), added(2, "</s>")),
                "pre_tokenizer",
                Map.of("type", "ByteLevel", "add_prefix_space", false, "trim_offsets", true, "use_regex", false),
                "decoder",
                Map.of("type", "ByteLevel"),
                "model",
                Map.of("type", "BPE", "vocab", vocabulary(), "merges", List.of()));
        Files.writeString(folder.resolve("tokenizer.json"), JsonMapper.shared().writeValueAsString(tokenizer));
    }

    /** A Llama of three terabytes that takes no room on the disk: its weights are a hole in the file. */
    public static Path writeOfTerabytes(Path folder) throws IOException {
        copyWithTokenizer(folder);
        Files.writeString(folder.resolve("config.json"), """
                {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 320, "hidden_size": 65536,
                 "intermediate_size": 262144, "num_hidden_layers": 25, "num_attention_heads": 512,
                 "num_key_value_heads": 512, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5,
                 "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": true, "torch_dtype": "bfloat16"}
                """);
        var header = new LinkedHashMap<String, Object>();
        long end = addTensor(header, 0, "model.embed_tokens.weight", VOCABULARY, 65536);
        end = addTensor(header, end, "model.norm.weight", 65536);
        for (int layer = 0; layer < 25; layer++) {
            String prefix = "model.layers." + layer + ".";
            end = addTensor(header, end, prefix + "input_layernorm.weight", 65536);
            end = addTensor(header, end, prefix + "post_attention_layernorm.weight", 65536);
            for (String name : List.of("q", "k", "v", "o")) {
                end = addTensor(header, end, prefix + "self_attn." + name + "_proj.weight", 65536, 65536);
            }
            end = addTensor(header, end, prefix + "mlp.gate_proj.weight", 262144, 65536);
            end = addTensor(header, end, prefix + "mlp.up_proj.weight", 262144, 65536);
            end = addTensor(header, end, prefix + "mlp.down_proj.weight", 65536, 262144);
        }
        byte[] json = JsonMapper.shared().writeValueAsBytes(header);
        try (var file = new RandomAccessFile(folder.resolve("model.safetensors").toFile(), "rw")) {
            file.writeLong(Long.reverseBytes(json.length));
            file.write(json);
            file.setLength(8 + json.length + end);
        }
        return folder;
    }

    private static long addTensor(Map<String, Object> header, long begin, String name, long... shape) {
        long end = begin + 2 * Arrays.stream(shape).reduce(1, Math::multiplyExact);
        header.put(name, Map.of("dtype", "BF16", "shape", shape, "data_offsets", new long[] {begin, end}));
        return end;
    }

    private static Map<String, Object> added(int id, String content) {
        return Map.of("id", id, "content", content, "special", true);
    }

    private static Map<String, Integer> vocabulary() {
        var vocabulary = new LinkedHashMap<String, Integer>();
        vocabulary.put("<pad>", 0);
        vocabulary.put("<s>", 1);
        vocabulary.put("</s>", 2);
        int unprintable = 256;
        for (int value = 0; value < 256; value++) {
            boolean isPrintable = (value > 32 && value < 127) || (value > 160 && value != 173);
            char letter = (char) (isPrintable ? value : unprintable++);
            vocabulary.put(String.valueOf(letter), FIRST_BYTE + value);
        }
        for (int id = vocabulary.size(); id < VOCABULARY; id++) {
            vocabulary.put("word" + id, id);
        }
        return vocabulary;
    }
}
