package roselle.grammar.schema;

import java.util.List;
import java.util.Map;
import roselle.grammar.regex.Language;

/**
 * The keys that may come next in an object: names that the schemas know, and kinds of others.
 *
 * @param names those that may come
 * @param members what follows each of them; made when first asked for
 */
record KeyTable(Language names, Map<String, List<Shape.Outcome>> members, List<Kind> kinds) {
    /** Keys that no schema names and that all patterns judge alike. */
    record Kind(Language keys, List<Shape.Outcome> outcomes) {}
}
