package roselle.grammar.schema;

import java.util.HashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** A schema with a URI of its own, and the names of places in it. Compared by identity. */
final class Resource {
    final String uri;
    final JsonNode root;
    final String pointer; // of the root in its document
    final Dialect dialect;
    final Map<String, Location> anchors = new HashMap<>();
    final Map<String, Location> dynamicAnchors = new HashMap<>();

    Resource(String uri, JsonNode root, String pointer, Dialect dialect) {
        this.uri = uri;
        this.root = root;
        this.pointer = pointer;
        this.dialect = dialect;
    }

    Draft draft() {
        return dialect.draft();
    }

    boolean isRecursiveAnchor() {
        return draft() == Draft.DRAFT_2019 && root.path("$recursiveAnchor").asBoolean(false);
    }

    Location whole() {
        return new Location(this, root, pointer);
    }

    /** A schema within a resource; the pointer is that in the document. */
    record Location(Resource resource, JsonNode node, String pointer) {
        Location at(JsonNode child, String... tokens) {
            StringBuilder path = new StringBuilder(pointer);
            for (String token : tokens) {
                path.append('/').append(token.replace("~", "~0").replace("/", "~1"));
            }
            return new Location(resource, child, path.toString());
        }
    }
}
