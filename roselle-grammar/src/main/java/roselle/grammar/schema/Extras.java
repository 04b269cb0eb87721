package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;

/**
 * The keys of an object so far that no schema names. Compared by identity.
 *
 * <p>They are kept in chunks, of which two of one size become one: a further key makes a language of few keys anew and not of all.
 */
final class Extras {
    static final Extras NONE = new Extras(List.of());

    private final List<Chunk> chunks;

    private Extras(List<Chunk> chunks) {
        this.chunks = chunks;
    }

    private static final class Chunk {
        final List<String> keys;

        @Nullable
        Language language;

        Chunk(List<String> keys) {
            this.keys = keys;
        }
    }

    Extras with(String key) {
        List<Chunk> more = new ArrayList<>(chunks);
        Chunk last = new Chunk(List.of(key));
        while (!more.isEmpty() && more.getLast().keys.size() == last.keys.size()) {
            List<String> joined = new ArrayList<>(more.removeLast().keys);
            joined.addAll(last.keys);
            last = new Chunk(joined);
        }
        more.add(last);
        return new Extras(more);
    }

    /** What is left of a language without these keys. */
    Language without(Languages languages, Language keys) {
        Language left = keys;
        for (Chunk chunk : chunks) {
            Language known = chunk.language;
            if (known == null) {
                known = languages.literals(chunk.keys);
                chunk.language = known;
            }
            left = languages.and(left, languages.not(known));
        }
        return left;
    }
}
