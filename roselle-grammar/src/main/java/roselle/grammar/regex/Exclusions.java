package roselle.grammar.regex;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language.Kind;

/** Texts that an intersection leaves out. */
final class Exclusions {
    private Exclusions() {}

    /** The rest of an intersection that leaves out some texts, if no beginning is lost by them; else null. */
    static @Nullable Language without(Languages languages, Language language) {
        if (language.kind == Kind.NOT && language.parts[0].kind == Kind.LITERALS) {
            return languages.any();
        }
        if (language.kind != Kind.AND) {
            return null;
        }
        Language[] rest =
                Arrays.stream(language.parts).filter(part -> !isExclusion(part)).toArray(Language[]::new);
        if (rest.length == language.parts.length) {
            return null;
        }
        Language joined = languages.and(rest);
        return isEndless(languages, joined) ? joined : null;
    }

    /** The texts that an intersection leaves out. */
    static Language of(Languages languages, Language language) {
        Language[] parts = language.kind == Kind.AND ? language.parts : new Language[] {language};
        return languages.or(Arrays.stream(parts)
                .filter(Exclusions::isExclusion)
                .map(part -> part.parts[0])
                .toArray(Language[]::new));
    }

    private static boolean isExclusion(Language part) {
        return part.kind == Kind.NOT && part.parts[0].kind == Kind.LITERALS;
    }

    /** Whether each beginning of a text goes on in infinitely many ways, as far as that is cheap to know. */
    @SuppressWarnings("ReferenceEquality") // interned
    private static boolean isEndless(Languages languages, Language language) {
        return language == languages.any() || (language.kind == Kind.LENGTH && language.max == Language.UNBOUNDED);
    }
}
