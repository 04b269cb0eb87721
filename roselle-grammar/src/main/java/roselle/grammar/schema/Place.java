package roselle.grammar.schema;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A schema in the scope in which dynamic references are resolved. */
record Place(JsonNode node, Resource resource, List<Resource> scope) {
    @Override
    @SuppressWarnings("ReferenceEquality") // nodes of one document are told apart by identity
    public boolean equals(@Nullable Object other) {
        return other instanceof Place place
                && node == place.node
                && resource == place.resource
                && scope.equals(place.scope);
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(node) * 31 + scope.hashCode();
    }
}
