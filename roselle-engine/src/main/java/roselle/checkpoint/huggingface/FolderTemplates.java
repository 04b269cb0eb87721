package roselle.checkpoint.huggingface;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import roselle.api.CheckpointException;
import roselle.checkpoint.file.FileField;
import tools.jackson.databind.JsonNode;

/**
 * The chat templates of a Hugging Face folder by name, the usual one named "default".
 *
 * <p>A template in a file of its own wins over one inside of tokenizer_config.json, as in transformers.
 */
final class FolderTemplates {
    static final String DEFAULT = "default";

    private static final String TEMPLATE_FIELD = "chat_template";

    private FolderTemplates() {}

    static Map<String, String> read(Path folder) {
        SequencedMap<String, String> templates = new LinkedHashMap<>();
        addFromJson(folder.resolve(FolderFiles.TOKENIZER_CONFIG), templates);
        addFromJson(folder.resolve("chat_template.json"), templates);
        Path file = folder.resolve("chat_template.jinja");
        if (Files.exists(file)) {
            templates.put(DEFAULT, new String(StrictJson.readBytes(file), StandardCharsets.UTF_8));
        }
        if (templates.size() == 1) {
            templates.putIfAbsent(DEFAULT, templates.firstEntry().getValue());
        }
        return Collections.unmodifiableMap(templates);
    }

    private static void addFromJson(Path file, SequencedMap<String, String> templates) {
        if (!Files.exists(file)) {
            return;
        }
        JsonNode value = StrictJson.readObject(file).get(TEMPLATE_FIELD);
        if (value == null || value.isNull()) {
            return;
        }
        if (value.isString()) {
            templates.put(DEFAULT, value.stringValue());
        } else if (value.isArray()) {
            value.forEach(named -> addNamed(file, named, templates));
        } else {
            throw malformed(file, value);
        }
    }

    private static void addNamed(Path file, JsonNode named, SequencedMap<String, String> templates) {
        JsonNode name = named.get("name");
        JsonNode template = named.get("template");
        if (name == null || !name.isString() || template == null || !template.isString()) {
            throw malformed(file, named);
        }
        templates.put(name.stringValue(), template.stringValue());
    }

    private static CheckpointException malformed(Path file, JsonNode value) {
        return new CheckpointException(file + ": " + TEMPLATE_FIELD + " is " + FileField.excerpt(value.toString())
                + ", not a string or a list of objects with name and template");
    }
}
