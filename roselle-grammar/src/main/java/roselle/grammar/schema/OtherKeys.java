package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;

/**
 * Keys that no schema names, and that match the same patterns.
 *
 * @param judged whether they do, by pattern
 */
record OtherKeys(Language keys, Map<Language, Boolean> judged) {
    boolean matches(Language pattern) {
        return Boolean.TRUE.equals(judged.get(pattern));
    }

    /** All kinds of them that an object may tell apart. */
    static List<OtherKeys> of(Shape.OfObject shape, Languages languages) {
        Set<Language> patterns = new LinkedHashSet<>();
        for (Formula goal : shape.goals) {
            collectPatterns(goal, patterns);
        }
        List<OtherKeys> all = new ArrayList<>();
        Language keys = languages.not(shape.universe.language());
        split(languages, List.copyOf(patterns), 0, new HashMap<>(), keys, all);
        return all;
    }

    private static void split(
            Languages languages,
            List<Language> patterns,
            int at,
            Map<Language, Boolean> is,
            Language keys,
            List<OtherKeys> all) {
        if (!languages.isLive(keys)) {
            return;
        }
        if (at == patterns.size()) {
            all.add(new OtherKeys(keys, Map.copyOf(is)));
            return;
        }
        Language pattern = patterns.get(at);
        is.put(pattern, true);
        split(languages, patterns, at + 1, is, languages.and(keys, pattern), all);
        is.put(pattern, false);
        split(languages, patterns, at + 1, is, languages.and(keys, languages.not(pattern)), all);
    }

    private static void collectPatterns(Formula formula, Set<Language> patterns) {
        if (formula.atom instanceof Atom.Members members) {
            for (Atom.KeyPattern pattern : members.patterns) {
                patterns.add(pattern.keys());
            }
        } else if (formula.atom instanceof Atom.Names(Language keys)) {
            patterns.add(keys);
        }
        for (Formula part : formula.parts) {
            collectPatterns(part, patterns);
        }
    }
}
