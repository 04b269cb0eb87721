package roselle.structured.type;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.structured.type.TypeNode.Absentable;
import roselle.structured.type.TypeNode.Choice;
import roselle.structured.type.TypeNode.Component;
import roselle.structured.type.TypeNode.Elements;
import roselle.structured.type.TypeNode.Entries;
import roselle.structured.type.TypeNode.RecordNode;
import roselle.structured.type.TypeNode.Scalar;
import tools.jackson.databind.json.JsonMapper;

/** Writes types as a JSON schema of draft 2020-12: records and sealed interfaces as definitions, their properties in order. */
final class SchemaWriter {
    private final Map<TypeNode, String> names = new LinkedHashMap<>();
    private final Map<String, Object> definitions = new LinkedHashMap<>();

    private SchemaWriter() {}

    static String write(TypeNode root) {
        var writer = new SchemaWriter();
        Map<String, Object> schema = writer.schema(root);
        if (!writer.definitions.isEmpty()) {
            schema.put("$defs", writer.definitions);
        }
        return JsonMapper.shared().writeValueAsString(schema);
    }

    private Map<String, Object> schema(TypeNode node) {
        return switch (node) {
            case Scalar scalar -> new LinkedHashMap<>(scalar.schema());
            case Absentable absentable -> {
                Map<String, Object> schema = new LinkedHashMap<>();
                schema.put("anyOf", List.of(schema(absentable.inner()), Map.of("type", "null")));
                yield schema;
            }
            case Elements elements -> elements(elements);
            case Entries entries -> entries(entries);
            case RecordNode record -> reference(record, record.name);
            case Choice choice -> reference(choice, choice.name);
        };
    }

    private Map<String, Object> elements(Elements node) {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "array");
        schema.put("items", schema(node.element()));
        Scalars.addBounds(
                schema,
                "minItems",
                node.bounds().min(),
                "maxItems",
                node.bounds().max());
        return schema;
    }

    private Map<String, Object> entries(Entries node) {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("propertyNames", schema(node.key()));
        schema.put("additionalProperties", schema(node.value()));
        Scalars.addBounds(
                schema,
                "minProperties",
                node.bounds().min(),
                "maxProperties",
                node.bounds().max());
        return schema;
    }

    private Map<String, Object> reference(TypeNode node, String wanted) {
        String name = names.get(node);
        if (name == null) {
            name = free(wanted);
            names.put(node, name);
            definitions.put(name, Map.of()); // keeps its place and its name
            definitions.put(name, definition(node));
        }
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("$ref", "#/$defs/" + name);
        return schema;
    }

    private String free(String wanted) {
        StringBuilder plain = new StringBuilder(); // as it may stand in a reference
        for (int at = 0; at < wanted.length(); at++) {
            char letter = wanted.charAt(at);
            plain.append(letter < 128 && Character.isLetterOrDigit(letter) ? letter : '_');
        }
        String name = plain.toString();
        for (int number = 2; definitions.containsKey(name); number++) {
            name = plain + "_" + number;
        }
        return name;
    }

    private Map<String, Object> definition(TypeNode node) {
        return node instanceof Choice choice ? anyOf(choice) : object((RecordNode) node, Map.of());
    }

    private Map<String, Object> anyOf(Choice choice) {
        List<Object> all = new ArrayList<>();
        choice.records()
                .forEach((name, record) ->
                        all.add(object(record, Map.of(choice.discriminator, Map.of("const", name)))));
        return described(new LinkedHashMap<>(Map.of("anyOf", all)), choice.description);
    }

    private Map<String, Object> object(RecordNode record, Map<String, Object> first) {
        Map<String, Object> properties = new LinkedHashMap<>(first);
        for (Component component : record.components()) {
            properties.put(component.name(), described(schema(component.node()), component.description()));
        }
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("properties", properties);
        schema.put("required", List.copyOf(properties.keySet()));
        schema.put("additionalProperties", false);
        return described(schema, record.description);
    }

    private static Map<String, Object> described(Map<String, Object> schema, String description) {
        if (!description.isEmpty()) {
            schema.put("description", description);
        }
        return schema;
    }
}
