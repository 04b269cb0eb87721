package roselle.jinja.value;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Python's dict: insertion order, and keys that are one when they are equal (1, 1.0 and true). */
public final class Dictionary {
    /**
     * One item.
     *
     * @param key as it was written first
     */
    public record Entry(Object key, Object value) {}

    private final Map<Object, Entry> entries;

    public Dictionary() {
        this(8);
    }

    public Dictionary(int size) {
        entries = LinkedHashMap.newLinkedHashMap(size);
    }

    public int size() {
        return entries.size();
    }

    public Collection<Entry> entries() {
        return entries.values();
    }

    public List<Object> keys() {
        var keys = new ArrayList<>(size());
        entries.values().forEach(entry -> keys.add(entry.key()));
        return keys;
    }

    public List<Object> values() {
        var values = new ArrayList<>(size());
        entries.values().forEach(entry -> values.add(entry.value()));
        return values;
    }

    public List<Object> items() {
        var items = new ArrayList<>(size());
        entries.values().forEach(entry -> items.add(Tuple.of(entry.key(), entry.value())));
        return items;
    }

    @Nullable
    public Object find(Rendering rendering, Object key) {
        return findCanonical(key instanceof String ? key : Keys.canonical(rendering, key));
    }

    @Nullable
    public Object find(String key) {
        return findCanonical(key);
    }

    public void put(Rendering rendering, Object key, Object value) {
        var canonical = Keys.canonical(rendering, key);
        var before = entries.get(canonical);
        entries.put(canonical, new Entry(before == null ? key : before.key(), value));
    }

    public void put(String key, Object value) {
        entries.put(key, new Entry(key, value));
    }

    public Dictionary copy() {
        var copy = new Dictionary(size());
        copy.entries.putAll(entries);
        return copy;
    }

    private @Nullable Object findCanonical(Object key) {
        var entry = entries.get(key);
        return entry == null ? null : entry.value();
    }
}
