package roselle.checkpoint.huggingface;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.TreeMap;
import roselle.api.CheckpointException;
import roselle.checkpoint.file.FileField;
import tools.jackson.databind.JsonNode;

/**
 * Which shard holds which tensor, as {@code model.safetensors.index.json} says.
 *
 * @param path of the index
 * @param shards file name of the shard by tensor name
 */
public record SafetensorsIndex(Path path, SequencedMap<String, String> shards) {
    /** Reads an index; one that names anything but files beside itself is refused. */
    public static SafetensorsIndex read(Path path) {
        JsonNode map = StrictJson.readObject(path).get("weight_map");
        if (map == null || !map.isObject()) {
            throw new CheckpointException(path + " has no object weight_map");
        }
        SequencedMap<String, String> shards = new LinkedHashMap<>();
        map.forEachEntry((tensor, shard) -> shards.put(tensor, fileName(path, tensor, shard)));
        return new SafetensorsIndex(path, shards);
    }

    /** The shards' file names, each once, sorted. */
    public Iterable<String> fileNames() {
        var names = new TreeMap<String, Boolean>();
        shards.values().forEach(name -> names.put(name, true));
        return names.keySet();
    }

    private static String fileName(Path path, String tensor, JsonNode shard) {
        String name = shard.isString() ? shard.stringValue() : "";
        if (!name.endsWith(".safetensors") || !isPlain(name)) {
            throw new CheckpointException(
                    path + ": weight_map names " + FileField.excerpt(shard.toString()) + " for tensor "
                            + FileField.excerpt(tensor) + ": it must be a .safetensors file in the same folder");
        }
        return name;
    }

    /** Letters, digits, dot, dash and underscore, not beginning with a dot: a file in this folder on any system. */
    private static boolean isPlain(String name) {
        return name.charAt(0) != '.' && name.length() <= 255 && name.chars().allMatch(SafetensorsIndex::isPlain);
    }

    private static boolean isPlain(int character) {
        return (character < 128 && Character.isLetterOrDigit(character)) || ".-_".indexOf(character) >= 0;
    }
}
