package roselle.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import roselle.bench.report.OnlineResults;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Holds results to their JSON Schema, more strictly than it asks: a field that it does not name is wrong, too.
 *
 * <p>Of JSON Schema, what our own schemas use.
 */
public final class ResultSchema {
    private final JsonNode schema;
    private final List<String> wrong = new ArrayList<>();

    private ResultSchema(JsonNode schema) {
        this.schema = schema;
    }

    /** Of a kind: online, offline or capacity. */
    public static ResultSchema of(String kind) throws IOException {
        try (InputStream file =
                OnlineResults.class.getResourceAsStream("/roselle/bench/schema/" + kind + "-1.schema.json")) {
            return new ResultSchema(new JsonMapper().readTree(Objects.requireNonNull(file, kind)));
        }
    }

    /** What is wrong with a document; empty if nothing is. */
    public List<String> faults(JsonNode document) {
        wrong.clear();
        check(document, schema, "$");
        return List.copyOf(wrong);
    }

    /** Every field that the schema names, anywhere. */
    Set<String> fields() {
        var names = new TreeSet<String>();
        schema.findValues("properties").forEach(each -> names.addAll(each.propertyNames()));
        schema.findParents("properties")
                .forEach(each -> each.path("properties")
                        .forEach(inner ->
                                inner.findValues("properties").forEach(more -> names.addAll(more.propertyNames()))));
        return names;
    }

    private void check(JsonNode value, JsonNode rule, String path) {
        if (rule.has("$ref")) {
            check(value, schema.at(rule.path("$ref").asString().substring(1)), path);
            return;
        }
        checkValue(value, rule, path);
        for (JsonNode name : rule.path("required")) {
            require(value.has(name.asString()), path + " has no " + name.asString());
        }
        if (rule.has("properties")) {
            value.propertyNames().forEach(name -> {
                require(rule.path("properties").has(name), path + "." + name + " is in no schema");
                check(value.path(name), rule.path("properties").path(name), path + "." + name);
            });
        }
        for (int i = 0; rule.has("items") && i < value.size(); i++) {
            check(value.get(i), rule.path("items"), path + "[" + i + "]");
        }
    }

    private void checkValue(JsonNode value, JsonNode rule, String path) {
        JsonNode types = rule.path("type");
        if (types.isString()) {
            require(isOf(value, types.asString()), path + " is no " + types.asString());
        } else if (types.isArray()) {
            boolean isAny = types.valueStream().anyMatch(type -> isOf(value, type.asString()));
            require(isAny, path + " is none of " + types);
        }
        if (rule.has("const")) {
            require(value.equals(rule.path("const")), path + " is not " + rule.path("const"));
        }
        if (rule.has("enum")) {
            require(rule.path("enum").valueStream().anyMatch(value::equals), path + " is none of " + rule.path("enum"));
        }
        if (rule.has("minimum") && value.isNumber()) {
            require(value.asDouble() >= rule.path("minimum").asDouble(), path + " is below its least value");
        }
    }

    private static boolean isOf(JsonNode value, String type) {
        return switch (type) {
            case "string" -> value.isString();
            case "number" -> value.isNumber();
            case "integer" -> value.isIntegralNumber();
            case "boolean" -> value.isBoolean();
            case "array" -> value.isArray();
            case "object" -> value.isObject();
            default -> throw new IllegalArgumentException("a type that is not checked: " + type);
        };
    }

    private void require(boolean isRight, String fault) {
        if (!isRight) {
            wrong.add(fault);
        }
    }
}
