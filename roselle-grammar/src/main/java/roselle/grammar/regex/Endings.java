package roselle.grammar.regex;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether every text can be prolonged to one of a language, as its expression shows: as of those that hold a match somewhere. It holds
 * a part to which anything may be prefixed; whoever has one text of that part has an ending for all texts.
 */
final class Endings {
    private static final int MAX_DEPTH = 50; // of expressions; of what is deeper nothing is known

    private Endings() {}

    static boolean areOpen(Languages languages, Language language) {
        Language part = prefixable(languages, language, 0);
        return part != null && languages.isLive(part);
    }

    /** Texts of a language before each of which any text may come, and the whole is one of them again; null where none are seen. */
    private static @Nullable Language prefixable(Languages languages, Language language, int depth) {
        if (depth > MAX_DEPTH) {
            return null;
        }
        return switch (language.kind) {
            case ANY -> language;
            case LENGTH -> language.max == Language.UNBOUNDED ? language : null;
            case CONCAT -> {
                Language first = prefixable(languages, language.parts[0], depth + 1);
                yield first == null ? null : languages.concat(first, language.parts[1]);
            }
            case OR -> {
                List<Language> found = new ArrayList<>();
                for (Language part : language.parts) {
                    Language its = prefixable(languages, part, depth + 1);
                    if (its != null) {
                        found.add(its);
                    }
                }
                yield found.isEmpty() ? null : languages.or(found.toArray(Language[]::new));
            }
            case AND -> {
                Language[] found = new Language[language.parts.length];
                for (int i = 0; i < found.length; i++) {
                    Language its = prefixable(languages, language.parts[i], depth + 1);
                    if (its == null) {
                        yield null;
                    }
                    found[i] = its;
                }
                yield languages.and(found);
            }
            case EMPTY, EPSILON, SYMBOL, NOT, REPEAT, LITERALS, MACHINE -> null;
        };
    }
}
