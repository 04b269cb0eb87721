package roselle.grammar.schema;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.TextLexeme;

/**
 * What is left of a key. Its texts are interned and compared by identity.
 *
 * @param names of the names that the schemas know; null where none may come
 * @param kinds of each kind of others; null where it may not come any more
 * @param others of all kinds together, where that is simpler; else null
 */
@SuppressWarnings({"ArrayRecordComponent", "ReferenceEquality"}) // compared by its elements
record KeyTexts(
        @Nullable TextLexeme names,
        @Nullable TextLexeme[] kinds,
        @Nullable TextLexeme others) {
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof KeyTexts texts && names == texts.names && Arrays.equals(kinds, texts.kinds);
    }

    /** Of what tells these apart: the others are what the kinds are together. */
    @Override
    public int hashCode() {
        return (names == null ? 0 : names.hashCode()) * 31 + Arrays.hashCode(kinds);
    }
}
