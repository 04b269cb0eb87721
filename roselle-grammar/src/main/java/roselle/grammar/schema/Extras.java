package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language;

/** The keys of an object so far that no schema names. Compared by identity. */
final class Extras {
    static final Extras NONE = new Extras(List.of());

    final List<String> keys;

    @Nullable
    Language language;

    private Extras(List<String> keys) {
        this.keys = keys;
    }

    Extras with(String key) {
        List<String> more = new ArrayList<>(keys);
        more.add(key);
        return new Extras(more);
    }
}
