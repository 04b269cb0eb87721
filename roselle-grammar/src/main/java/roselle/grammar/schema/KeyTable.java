package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;

/**
 * The keys that may come next in an object: names that the schemas know, and kinds of others.
 *
 * @param names those that may come
 * @param members what follows each of them; made when first asked for
 * @param others the keys of all kinds together, where there are several; else null
 */
record KeyTable(
        Language names,
        Map<String, List<Shape.Outcome>> members,
        List<Kind> kinds,
        @Nullable Language others) {
    /** Keys that no schema names and that all patterns judge alike. */
    record Kind(Language keys, List<Shape.Outcome> outcomes) {}

    /** The table of some names, and of all kinds that there are of other keys: those that nothing may follow are left out. */
    static KeyTable of(Languages languages, Shape.Universe universe, Language names, List<Kind> all) {
        List<Kind> kinds = new ArrayList<>(all);
        boolean areAll = !kinds.removeIf(kind -> kind.outcomes().isEmpty());
        Language others = null;
        if (kinds.size() > 1) {
            others = areAll ? languages.not(universe.language()) : joined(languages, kinds);
        }
        return new KeyTable(names, new HashMap<>(), kinds, others);
    }

    private static Language joined(Languages languages, List<Kind> kinds) {
        Language[] keys = new Language[kinds.size()];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = kinds.get(i).keys();
        }
        return languages.or(keys);
    }
}
