package roselle.grammar.regex;

import org.jspecify.annotations.Nullable;

/** What tells the places within the symbols of one language apart; written out, as they are looked up for every byte. */
record TextPlace(TextLexeme.Spelling spelling, int form, int value, int count, int high) {
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TextPlace place
                && spelling == place.spelling
                && form == place.form
                && value == place.value
                && count == place.count
                && high == place.high;
    }

    @Override
    public int hashCode() {
        return ((form * 31 + count) * 31 + value) * 31 + high;
    }
}
