package roselle.grammar.schema;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Budget;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import tools.jackson.databind.JsonNode;

/** The schemas that references can reach: the one that is compiled, and those that came with it. */
final class Documents {
    private static final String NO_URI = "roselle:/schema";
    private static final Set<String> MAPS =
            Set.of("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies");
    private static final Set<String> LISTS = Set.of("allOf", "anyOf", "oneOf", "prefixItems", "items");
    private static final Set<String> SINGLES = Set.of(
            "items",
            "additionalItems",
            "contains",
            "not",
            "if",
            "then",
            "else",
            "propertyNames",
            "additionalProperties",
            "unevaluatedItems",
            "unevaluatedProperties",
            "contentSchema");
    private static final int MAX_DEPTH = 400;

    private final Map<String, String> sources;
    private final Budget budget;
    private final Map<String, Resource> byUri = new HashMap<>();
    private final IdentityHashMap<JsonNode, Resource> byRoot = new IdentityHashMap<>();
    private final JsonNode whole;
    private final Resource main;

    Documents(JsonNode schema, SchemaOptions options, Budget budget) {
        this.sources = options.documents();
        this.budget = budget;
        this.whole = schema;
        this.main = add(NO_URI, schema, Dialect.NEWEST);
    }

    Resource main() {
        return main;
    }

    private Resource add(String uri, JsonNode root, Dialect otherwise) {
        Resource resource = new Resource(uri, root, "", dialect(root, otherwise));
        byUri.put(uri, resource);
        index(resource, root, "", true, 0);
        return byRoot.getOrDefault(root, resource);
    }

    /** The dialect of a schema by its {@code $schema}: that of the metaschema, if it was given or lies among the schema's definitions. */
    private Dialect dialect(JsonNode schema, Dialect otherwise) {
        String uri = schema.path("$schema").asString("");
        if (uri.isEmpty()) {
            return otherwise;
        }
        if (Draft.isOfJsonSchema(uri)) {
            return new Dialect(Draft.of(uri, otherwise.draft()), Set.of());
        }
        String name = withoutFragment(uri);
        String given = sources.get(name);
        if (given != null) {
            budget.spend(given.length() / 8);
            return Dialect.of(Values.read(given), otherwise);
        }
        for (JsonNode definition : whole.path("$defs")) {
            if (withoutFragment(definition.path("$id").asString("")).equals(name)) {
                return Dialect.of(definition, otherwise);
            }
        }
        return otherwise;
    }

    /** Finds resources and anchors where schemas may stand. */
    private void index(Resource outer, JsonNode node, String pointer, boolean isRoot, int depth) {
        if (!node.isObject()) {
            return;
        }
        budget.spend(4);
        if (depth > MAX_DEPTH) {
            throw new GrammarException(Reason.BUDGET, pointer, "", "schemas are nested too deep.");
        }
        Resource resource = identified(outer, node, pointer, isRoot);
        addAnchors(resource, node, pointer);
        for (Map.Entry<String, JsonNode> entry : node.properties()) {
            String key = entry.getKey();
            JsonNode value = entry.getValue();
            String path = pointer + '/' + key;
            if (MAPS.contains(key) && value.isObject()) {
                for (Map.Entry<String, JsonNode> inner : value.properties()) {
                    index(resource, inner.getValue(), path + '/' + escaped(inner.getKey()), false, depth + 1);
                }
            } else if (LISTS.contains(key) && value.isArray()) {
                for (int i = 0; i < value.size(); i++) {
                    index(resource, value.get(i), path + '/' + i, false, depth + 1);
                }
            } else if (SINGLES.contains(key)) {
                index(resource, value, path, false, depth + 1);
            }
        }
    }

    private static String escaped(String token) {
        return token.replace("~", "~0").replace("/", "~1");
    }

    private Resource identified(Resource outer, JsonNode node, String pointer, boolean isRoot) {
        Dialect dialect = isRoot ? outer.dialect : dialect(node, outer.dialect);
        Draft draft = dialect.draft();
        String id = node.path(draft.idKeyword()).asString("");
        boolean isHidden = !draft.readsBesideRef() && node.has("$ref") && !isRoot;
        if (id.isEmpty() || isHidden || (id.startsWith("#") && !isRoot)) {
            if (id.startsWith("#") && !isHidden) {
                outer.anchors.put(id.substring(1), new Resource.Location(outer, node, pointer));
            }
            if (isRoot) {
                byRoot.put(node, outer);
            }
            return outer;
        }
        String uri = withoutFragment(resolve(outer.uri, id));
        Resource resource = new Resource(uri, node, pointer, dialect);
        byUri.put(uri, resource);
        byRoot.put(node, resource);
        String fragment = fragment(id);
        if (!fragment.isEmpty()) {
            resource.anchors.put(fragment, resource.whole());
        }
        return resource;
    }

    private static void addAnchors(Resource resource, JsonNode node, String pointer) {
        Resource.Location here = new Resource.Location(resource, node, pointer);
        if (node.path("$anchor").isString()) {
            resource.anchors.put(node.path("$anchor").stringValue(), here);
        }
        if (node.path("$dynamicAnchor").isString()) {
            resource.anchors.put(node.path("$dynamicAnchor").stringValue(), here);
            resource.dynamicAnchors.put(node.path("$dynamicAnchor").stringValue(), here);
        }
    }

    private static String resolve(String base, String reference) {
        try {
            if (reference.startsWith("#")) {
                return withoutFragment(base) + reference;
            }
            URI uri = URI.create(reference);
            return uri.isAbsolute() || URI.create(base).isOpaque()
                    ? reference
                    : URI.create(base).resolve(uri).toString();
        } catch (IllegalArgumentException malformed) {
            return reference;
        }
    }

    private static String withoutFragment(String uri) {
        int hash = uri.indexOf('#');
        return hash < 0 ? uri : uri.substring(0, hash);
    }

    static String fragment(String uri) {
        int hash = uri.indexOf('#');
        return hash < 0 ? "" : URLDecoder.decode(uri.substring(hash + 1).replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** What a reference from a place points to. */
    Resource.Location find(Resource.Location from, String reference, String keyword) {
        String uri = resolve(from.resource().uri, reference);
        String target = withoutFragment(uri);
        Resource resource = byUri.get(target);
        if (resource == null) {
            resource = load(target);
        }
        if (resource == null) {
            throw new GrammarException(
                    Reason.UNSUPPORTED, from.pointer(), keyword, "'" + reference + "' is not part of the schema.");
        }
        String fragment;
        try {
            fragment = fragment(uri);
        } catch (IllegalArgumentException malformed) {
            fragment = "?";
        }
        Resource.Location found;
        if (fragment.isEmpty()) {
            found = resource.whole();
        } else if (fragment.startsWith("/")) {
            found = follow(resource, fragment);
        } else {
            found = resource.anchors.get(fragment);
        }
        if (found == null) {
            throw new GrammarException(
                    Reason.INVALID, from.pointer(), keyword, "'" + reference + "' points to nothing.");
        }
        return found;
    }

    private @Nullable Resource load(String uri) {
        String source = sources.get(uri);
        if (source == null) {
            source = sources.get(uri + "#");
        }
        if (source == null) {
            return null;
        }
        budget.spend(source.length() / 8);
        Resource loaded =
                add(uri, Values.read(source), main.dialect.unknown().isEmpty() ? main.dialect : Dialect.NEWEST);
        byUri.put(uri, loaded);
        return loaded;
    }

    private Resource.@Nullable Location follow(Resource resource, String pointer) {
        Resource inside = resource;
        JsonNode node = resource.root;
        StringBuilder path = new StringBuilder(resource.pointer);
        int end;
        for (int at = 1; at <= pointer.length(); at = end + 1) {
            int slash = pointer.indexOf('/', at);
            end = slash < 0 ? pointer.length() : slash;
            String token = pointer.substring(at, end);
            String name = token.replace("~1", "/").replace("~0", "~");
            if (node.isArray() && !isIndex(name)) {
                return null;
            }
            JsonNode next = node.isArray() ? node.get(Integer.parseInt(name)) : node.get(name);
            if (next == null) {
                return null;
            }
            node = next;
            path.append('/').append(token);
            inside = byRoot.getOrDefault(node, inside);
        }
        return new Resource.Location(inside, node, path.toString());
    }

    private static boolean isIndex(String name) {
        return !name.isEmpty() && name.length() <= 9 && name.chars().allMatch(digit -> digit >= '0' && digit <= '9');
    }

    /** The resource that a schema begins, or the one that it lies in. */
    Resource.Location entered(Resource.Location location) {
        Resource own = byRoot.get(location.node());
        return own == null || own == location.resource()
                ? location
                : new Resource.Location(own, location.node(), location.pointer());
    }
}
