package roselle.checkpoint.huggingface;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.checkpoint.Metadata;
import tools.jackson.databind.JsonNode;

/** Small JSON files that lie in a model's folder beside its configuration. */
public final class FolderJson {
    private FolderJson() {}

    /** The object that a file holds; empty where there is no file. */
    public static Optional<Metadata> object(Path file) {
        return Files.exists(file) ? Optional.of(JsonMetadata.read(file)) : Optional.empty();
    }

    /** The objects of the list that a file holds; empty where there is no file. */
    public static List<Metadata> objects(Path file) {
        if (!Files.exists(file)) {
            return List.of();
        }
        JsonNode root = StrictJson.readAny(file);
        if (!root.isArray()) {
            throw new CheckpointException(file + " does not hold a JSON list");
        }
        var objects = new ArrayList<Metadata>();
        for (JsonNode element : root) {
            if (!element.isObject()) {
                throw new CheckpointException(file + ": element " + objects.size() + " is not a JSON object");
            }
            objects.add(JsonMetadata.of(file + " [" + objects.size() + "]", element));
        }
        return objects;
    }
}
