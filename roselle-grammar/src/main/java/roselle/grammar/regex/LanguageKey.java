package roselle.grammar.regex;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language.Kind;

/** What tells languages apart; parts by identity, as they are interned themselves. */
@SuppressWarnings("ArrayRecordComponent") // compared by its elements
record LanguageKey(Kind kind, Language[] parts, @Nullable Object payload, int min, int max) {
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LanguageKey key
                && kind == key.kind
                && min == key.min
                && max == key.max
                && Arrays.equals(parts, key.parts)
                && Objects.equals(payload, key.payload);
    }

    @Override
    public int hashCode() {
        int hash = kind.name().hashCode() + 31 * min + 961 * max + Objects.hashCode(payload);
        for (Language part : parts) {
            hash = 31 * hash + part.id;
        }
        return hash;
    }
}
