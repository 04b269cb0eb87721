package roselle.grammar.schema;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language;
import tools.jackson.databind.JsonNode;

/** One condition on a JSON value; it holds for every value of another type, except {@link Types}. */
sealed interface Atom {
    int NULL = 1;
    int TRUE = 2;
    int FALSE = 4;
    int INTEGER = 8;
    int FRACTION = 16;
    int STRING = 32;
    int ARRAY = 64;
    int OBJECT = 128;
    int ALL_TYPES = 255;

    /** The type is one of a set. */
    record Types(int set) implements Atom {
        @Override
        public boolean equals(@Nullable Object other) { // written out: interned again and again
            return other instanceof Types types && set == types.set;
        }

        @Override
        public int hashCode() {
            return set;
        }
    }

    /** A string's text, or a number's spelling, is in a language; {@code isPlainOnly} if it judges numbers without exponent alone. */
    record Text(ValueType type, Language language, boolean isPlainOnly) implements Atom {}

    /** Every member whose key is named, matches a pattern, or does neither is valid. Compared by identity. */
    final class Members implements Atom {
        final Map<String, Schema> named;
        final List<KeyPattern> patterns;
        final Schema others;

        Members(Map<String, Schema> named, List<KeyPattern> patterns, Schema others) {
            this.named = named;
            this.patterns = List.copyOf(patterns);
            this.others = others;
        }
    }

    /** Keys that are in a language, and what their members must be. */
    record KeyPattern(Language keys, Schema schema) {}

    /** There is a member of this key. */
    record Has(String key) implements Atom {}

    record MemberCount(long min, long max) implements Atom {}

    /** Every key is in a language. */
    record Names(Language keys) implements Atom {}

    /** The first items are valid one by one, all others alike. Compared by identity. */
    final class Items implements Atom {
        final List<Schema> first;
        final Schema others;

        Items(List<Schema> first, Schema others) {
            this.first = List.copyOf(first);
            this.others = others;
        }

        Schema at(long index) {
            return index < first.size() ? first.get((int) index) : others;
        }
    }

    record ItemCount(long min, long max) implements Atom {}

    /** Between min and max items are valid, of which {@code found} have been read. */
    record Contains(Schema schema, long min, long max, long found) implements Atom {}

    /** Every item differs from all before it; {@code isPending} while the last of those is still to be read. */
    record Unique(List<JsonNode> before, boolean isPending) implements Atom {}
}
