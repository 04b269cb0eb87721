package roselle.server.openapi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The OpenAPI 3.1 document, put together from the files beside this class.
 *
 * <p>{@code components.json} is the frame, {@code paths.json} has the paths, files of one dialect have paths and schemas, the other
 * files have schemas by name. Where an object
 * has {@code "$include"}, the members of that group of {@code groups.json}, or of those groups, stand in its place: many requests
 * share their fields, and a schema that is to refuse all others must have them side by side. A member of the object itself wins
 * over one of a group.
 */
final class OpenApiDocument {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String INCLUDE = "$include";
    private static final List<String> DIALECTS = List.of(
            "batches.json",
            "anthropic.json",
            "ollama.json",
            "llamacpp.json",
            "tgi.json",
            "kserve.json",
            "cohere.json",
            "tei.json");

    private final ObjectNode groups = file("groups.json");

    private OpenApiDocument() {}

    static byte[] bytes() {
        return MAPPER.writeValueAsBytes(new OpenApiDocument().whole());
    }

    private ObjectNode whole() {
        ObjectNode whole = file("components.json");
        whole.set("paths", file("paths.json"));
        ObjectNode schemas = whole.withObject("/components").putObject("schemas");
        schemas.setAll(file("requests.json"));
        schemas.setAll(file("answers.json"));
        schemas.setAll(file("responses.json"));
        for (String dialect : DIALECTS) {
            ObjectNode file = file(dialect);
            whole.withObject("/paths").setAll(file.withObject("/paths"));
            schemas.setAll(file.withObject("/schemas"));
        }
        expand(whole);
        return whole;
    }

    private void expand(JsonNode node) {
        if (node instanceof ObjectNode object) {
            JsonNode names = object.remove(INCLUDE);
            if (names != null && names.isArray()) {
                names.values().forEach(name -> include(name.stringValue(), object));
            } else if (names != null) {
                include(names.stringValue(), object);
            }
        }
        node.values().forEach(this::expand);
    }

    private void include(String name, ObjectNode into) {
        JsonNode group = Objects.requireNonNull(groups.get(name), name);
        group.properties()
                .forEach(member ->
                        into.putIfAbsent(member.getKey(), member.getValue().deepCopy()));
        JsonNode further = into.remove(INCLUDE);
        if (further != null) {
            include(further.stringValue(), into);
        }
    }

    private static ObjectNode file(String name) {
        try (var in = Objects.requireNonNull(OpenApiDocument.class.getResourceAsStream(name), name)) {
            return (ObjectNode) MAPPER.readTree(in);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
