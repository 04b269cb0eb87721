package roselle.grammar.regex;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Expressions that spell out a few texts, as many patterns do: as a list, those are looked up and not derived. */
final class FixedTexts {
    private static final int MAX_TEXTS = 64;
    private static final int MAX_DEPTH = 200; // of expressions

    private FixedTexts() {}

    /** A language as a list of texts where its expression shows that it is one; else itself. */
    static Language listed(Languages languages, Language language) {
        Set<String> texts = language.kind == Language.Kind.EPSILON ? null : of(language, 0);
        return texts == null ? language : languages.literals(texts);
    }

    private static @Nullable Set<String> of(Language language, int depth) {
        if (depth > MAX_DEPTH) {
            return null;
        }
        return switch (language.kind) {
            case EPSILON -> Set.of("");
            case SYMBOL -> language.payload instanceof CodePoints set && set.size() <= 2 ? symbols(set) : null;
            case CONCAT -> {
                Set<String> first = of(language.parts[0], depth + 1);
                Set<String> second = first == null ? null : of(language.parts[1], depth + 1);
                yield first == null || second == null ? null : joined(first, second);
            }
            case OR -> {
                Set<String> all = new LinkedHashSet<>();
                for (Language part : language.parts) {
                    Set<String> its = of(part, depth + 1);
                    if (its == null || !all.addAll(its) || all.size() > MAX_TEXTS) {
                        yield null;
                    }
                }
                yield all;
            }
            case EMPTY, ANY, AND, NOT, REPEAT, LITERALS, LENGTH, MACHINE -> null;
        };
    }

    private static Set<String> symbols(CodePoints set) {
        List<String> texts = new ArrayList<>();
        int[] ranges = set.ranges();
        for (int i = 0; i < ranges.length; i += 2) {
            for (int symbol = ranges[i]; symbol <= ranges[i + 1]; symbol++) {
                texts.add(Character.toString(symbol));
            }
        }
        return new LinkedHashSet<>(texts);
    }

    private static @Nullable Set<String> joined(Set<String> first, Set<String> second) {
        if ((long) first.size() * second.size() > MAX_TEXTS) {
            return null;
        }
        Set<String> all = new LinkedHashSet<>();
        for (String beginning : first) {
            for (String end : second) {
                all.add(beginning + end);
            }
        }
        return all;
    }
}
