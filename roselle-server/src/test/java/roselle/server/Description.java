package roselle.server;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The OpenAPI document that a server serves, as tests ask it. */
record Description(JsonNode document, Map<String, Schema> compiled) {
    private static final SchemaRegistry REGISTRY =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private static final String SCHEMAS = "/components/schemas/";

    static Description of(DemoServer demo) {
        return of(demo.get("/openapi.json").body());
    }

    static Description of(String document) {
        return new Description(DemoServer.json(document), new ConcurrentHashMap<>());
    }

    JsonNode schema(String name) {
        return document.at(SCHEMAS + name);
    }

    Set<String> schemas() {
        return new TreeSet<>(document.at("/components/schemas").propertyNames());
    }

    /** Why a value is not of a schema; empty if it is. */
    List<String> complaints(String schema, JsonNode value) {
        return compiled
                .computeIfAbsent(
                        schema,
                        name -> compiled(DemoServer.MAPPER.createObjectNode().put("$ref", "#" + SCHEMAS + name)))
                .validate(value)
                .stream()
                .map(Object::toString)
                .toList();
    }

    /** A schema that may refer to those of the document. */
    Schema compiled(JsonNode schema) {
        ObjectNode whole = schema.deepCopy().asObject();
        whole.set("components", document.at("/components"));
        return REGISTRY.getSchema(whole);
    }

    /** Why a schema is none itself. */
    static List<String> complaintsAboutSchema(JsonNode schema) {
        Schema meta = REGISTRY.getSchema(
                com.networknt.schema.SchemaLocation.of("https://json-schema.org/draft/2020-12/schema"));
        return meta.validate(schema).stream().map(Object::toString).toList();
    }

    /** Each method with its path, names in braces, and what is between them, as a star. */
    Set<String> operations() {
        Set<String> operations = new TreeSet<>();
        document.at("/paths")
                .properties()
                .forEach(path -> path.getValue().propertyNames().stream()
                        .filter(method -> !method.equals("parameters"))
                        .forEach(method -> operations.add(
                                method.toUpperCase(java.util.Locale.ROOT) + " " + starred(path.getKey()))));
        return operations;
    }

    private static String starred(String path) {
        int brace = path.indexOf('{');
        return brace < 0 ? path : path.substring(0, brace) + "*" + path.substring(path.lastIndexOf('}') + 1);
    }

    /** The schema of the body that a path takes. */
    String request(String path) {
        String reference = document.at("/paths")
                .path(path)
                .at("/post/requestBody/content/application~1json/schema/$ref")
                .stringValue();
        return reference.substring(("#" + SCHEMAS).length());
    }

    /** Every field below a schema, such as {@code messages[].role}. */
    Set<String> fields(String schema) {
        return new TreeSet<>(rules(schema).keySet());
    }

    /** The same with all that its schemas say of each of them. */
    Map<String, List<JsonNode>> rules(String schema) {
        Map<String, List<JsonNode>> rules = new TreeMap<>();
        collect(schema(schema), "", rules);
        rules.keySet().removeIf(name -> name.isEmpty() || name.endsWith("[]"));
        return rules;
    }

    private void collect(JsonNode schema, String at, Map<String, List<JsonNode>> rules) {
        rules.computeIfAbsent(at, _ -> new ArrayList<>()).add(schema);
        if (schema.has("$ref")) {
            collect(document.at(schema.get("$ref").stringValue().substring(1)), at, rules);
        }
        schema.path("properties").properties().forEach(property -> {
            String name = at.isEmpty() ? property.getKey() : at + "." + property.getKey();
            collect(property.getValue(), name, rules);
        });
        if (schema.has("items")) {
            collect(schema.path("items"), at + "[]", rules);
        }
        Stream.of("anyOf", "oneOf")
                .flatMap(kind -> schema.path(kind).valueStream())
                .forEach(each -> collect(each, at, rules));
    }

    /** Hands every reference of the document to {@code action}. */
    void references(Consumer<String> action) {
        references(document, action);
    }

    private static void references(JsonNode node, Consumer<String> action) {
        if (node.has("$ref")) {
            action.accept(node.get("$ref").stringValue());
        }
        node.valueStream().forEach(each -> references(each, action));
    }
}
