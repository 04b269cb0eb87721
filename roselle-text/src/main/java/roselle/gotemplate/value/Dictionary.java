package roselle.gotemplate.value;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import roselle.jinja.text.Text;

/** A map with texts as keys, in the order of their bytes, in which Go ranges over it and prints it. */
public record Dictionary(SortedMap<String, Object> entries, Spelling spelling) {
    public Dictionary {
        SortedMap<String, Object> sorted = new TreeMap<>(Text::compare);
        sorted.putAll(entries);
        entries = Collections.unmodifiableSortedMap(sorted);
    }

    /** One of entries in any order. */
    public static Dictionary of(Map<String, Object> entries, Spelling spelling) {
        SortedMap<String, Object> sorted = new TreeMap<>(Text::compare);
        sorted.putAll(entries);
        return new Dictionary(sorted, spelling);
    }
}
