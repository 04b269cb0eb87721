package roselle.grammar.mask;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** Values by the identity of their keys: many readers without a lock, one writer at a time; nothing is allocated on a hit. */
final class IdentityTable<V> {
    private static final VarHandle ELEMENTS = MethodHandles.arrayElementVarHandle(Object[].class);

    private volatile Object[] slots = new Object[64]; // key, value, key, value …
    private int size;

    @SuppressWarnings({"unchecked", "ReferenceEquality"}) // keys are told apart by identity
    @Nullable
    V find(Object key) {
        Object[] table = slots;
        int mask = table.length - 2;
        int at = hash(key) & mask;
        while (true) {
            Object found = ELEMENTS.getAcquire(table, at);
            if (found == key) {
                return (V) table[at + 1];
            }
            if (found == null) {
                return null;
            }
            at = at + 2 & mask;
        }
    }

    /** Adds a key that is not there; the caller holds the writer's lock. */
    void add(Object key, V value) {
        if (++size * 4 > slots.length) {
            Object[] larger = new Object[slots.length * 2];
            for (int i = 0; i < slots.length; i += 2) {
                if (slots[i] != null) {
                    put(larger, slots[i], slots[i + 1]);
                }
            }
            slots = larger;
        }
        put(slots, key, value);
    }

    int size() {
        return size;
    }

    void clear() {
        slots = new Object[64];
        size = 0;
    }

    private static void put(Object[] table, Object key, Object value) {
        int mask = table.length - 2;
        int at = hash(key) & mask;
        while (table[at] != null) {
            at = at + 2 & mask;
        }
        table[at + 1] = value;
        ELEMENTS.setRelease(table, at, key);
    }

    private static int hash(Object key) {
        return (System.identityHashCode(key) * 0x9E3779B1) >>> 7 << 1;
    }
}
