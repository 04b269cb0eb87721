package roselle.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** Makes a tiny model of the engine's tests talk: it has random weights, and here gets a tokenizer of bytes. */
final class TinyModels {
    private static final Path LLAMA = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");
    private static final int VOCABULARY = 320;
    private static final int FIRST_BYTE = 3;

    private TinyModels() {}

    /** A Llama with a context of 256 tokens, whose tokens are the 256 bytes and a few words. */
    static void copyWithTokenizer(Path folder) throws IOException {
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
