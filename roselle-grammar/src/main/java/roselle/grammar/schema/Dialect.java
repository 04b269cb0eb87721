package roselle.grammar.schema;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import tools.jackson.databind.JsonNode;

/**
 * The version of JSON Schema that a resource is written in, and the keywords of it that mean nothing there: those of vocabularies that
 * the metaschema which {@code $schema} names does not list (JSON Schema Core 2020-12, section 8.1.2). A metaschema that is not at hand
 * is taken to list all of them.
 *
 * @param unknown keywords without a meaning
 */
record Dialect(Draft draft, Set<String> unknown) {
    static final Dialect NEWEST = new Dialect(Draft.DRAFT_2020, Set.of());

    private static final String CORE = "core";
    private static final Set<String> WITHOUT_KEYWORDS_HERE = Set.of("meta-data", "content");
    private static final String EARLIER_UNEVALUATED = "applicator"; // in 2019-09
    private static final Map<String, Set<String>> KEYWORDS = Map.of(
            "applicator",
                    Set.of(
                            "prefixItems",
                            "items",
                            "additionalItems",
                            "contains",
                            "properties",
                            "patternProperties",
                            "additionalProperties",
                            "dependentSchemas",
                            "propertyNames",
                            "if",
                            "then",
                            "else",
                            "allOf",
                            "anyOf",
                            "oneOf",
                            "not"),
            "unevaluated", Set.of("unevaluatedItems", "unevaluatedProperties"),
            "validation",
                    Set.of(
                            "type",
                            "const",
                            "enum",
                            "multipleOf",
                            "maximum",
                            "exclusiveMaximum",
                            "minimum",
                            "exclusiveMinimum",
                            "maxLength",
                            "minLength",
                            "pattern",
                            "maxItems",
                            "minItems",
                            "uniqueItems",
                            "maxContains",
                            "minContains",
                            "maxProperties",
                            "minProperties",
                            "required",
                            "dependentRequired"),
            "format-annotation", Set.of("format"));
    private static final Map<String, String> SAME = Map.of(
            "format", "format-annotation", // as 2019-09 calls it
            "format-assertion", "format-annotation");

    /** The dialect that a metaschema describes; a schema that requires a vocabulary which nobody here knows is refused. */
    static Dialect of(JsonNode metaschema, Dialect otherwise) {
        Draft draft = Draft.of(metaschema.path("$schema").asString(""), otherwise.draft);
        JsonNode listed = metaschema.path("$vocabulary");
        if (!listed.isObject() || !draft.readsBesideRef()) {
            return new Dialect(draft, Set.of());
        }
        Map<String, Set<String>> left = new HashMap<>(KEYWORDS);
        for (Map.Entry<String, JsonNode> entry : listed.properties()) {
            String name = name(entry.getKey());
            boolean isKnown = name.equals(CORE) || WITHOUT_KEYWORDS_HERE.contains(name) || KEYWORDS.containsKey(name);
            if (!isKnown && entry.getValue().asBoolean(false)) {
                throw new GrammarException(
                        Reason.UNSUPPORTED,
                        "",
                        "$schema",
                        "its metaschema requires the vocabulary '" + entry.getKey() + "', which is not known.");
            }
            left.remove(name);
            if (draft == Draft.DRAFT_2019 && name.equals(EARLIER_UNEVALUATED)) {
                left.remove("unevaluated");
            }
        }
        Set<String> unknown = new HashSet<>();
        left.values().forEach(unknown::addAll);
        return new Dialect(draft, Set.copyOf(unknown));
    }

    /** The last part of the URI of a vocabulary of JSON Schema's own; the whole URI of another. */
    private static String name(String uri) {
        int vocabulary = uri.startsWith("https://json-schema.org/draft/") ? uri.indexOf("/vocab/") : -1;
        String name = vocabulary < 0 ? uri : uri.substring(vocabulary + "/vocab/".length());
        return SAME.getOrDefault(name, name);
    }
}
