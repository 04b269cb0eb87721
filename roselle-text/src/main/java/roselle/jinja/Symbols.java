package roselle.jinja;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The names of one scope and where their values live: Jinja's rules, decided before anything runs.
 *
 * <p>A scope (the template, a loop's body, a macro, a block) sees the names of those around it. A name that it assigns
 * is its own from its beginning to its end, and starts with the value that it has outside; {@code if} is no scope. A
 * name that no scope around assigns or reads is looked up among the caller's variables when the scope is entered.
 */
final class Symbols {
    /** A place for a value in the activations of a function. */
    record Slot(FunctionScope function, int index) {}

    /** What fills a slot when its scope is entered. */
    sealed interface Load {}

    /** A parameter is filled by whoever enters. */
    record Parameter() implements Load {}

    record Resolve(String name) implements Load {}

    record Alias(Slot outer) implements Load {}

    record Empty() implements Load {}

    /** The slots of what becomes one activation: the template, a macro, a recursive loop or a loop's test. */
    static final class FunctionScope {
        private final @Nullable FunctionScope parent;
        private final Map<String, Integer> indices = new HashMap<>();

        FunctionScope(@Nullable FunctionScope parent) {
            this.parent = parent;
        }

        int size() {
            return indices.size();
        }

        /** How many functions lie between this one and another around it. */
        int distanceTo(FunctionScope other) {
            return this == other || parent == null ? 0 : 1 + parent.distanceTo(other);
        }

        private int index(int level, String name) {
            return indices.computeIfAbsent(level + " " + name, _ -> indices.size());
        }
    }

    private final @Nullable Symbols parent;
    private final FunctionScope function;
    private final int level;
    private final Map<String, Slot> references = new HashMap<>();
    private final Map<Slot, Load> loads = new LinkedHashMap<>();
    private final Set<String> stores = new HashSet<>();

    Symbols(@Nullable Symbols parent, FunctionScope function) {
        this(parent, function, parent == null ? 0 : parent.level + 1);
    }

    private Symbols(@Nullable Symbols parent, FunctionScope function, int level) {
        this.parent = parent;
        this.function = function;
        this.level = level;
    }

    FunctionScope function() {
        return function;
    }

    Map<Slot, Load> loads() {
        return loads;
    }

    Slot slot(String name) {
        var slot = find(name);
        if (slot == null) {
            throw new IllegalStateException("the name '" + name + "' was not analyzed");
        }
        return slot;
    }

    void load(String name) {
        if (find(name) == null) {
            define(name, new Resolve(name));
        }
    }

    void store(String name) {
        stores.add(name);
        if (references.containsKey(name)) {
            return;
        }
        var outer = parent == null ? null : parent.find(name);
        define(name, outer == null ? new Empty() : new Alias(outer));
    }

    Slot declareParameter(String name) {
        stores.add(name);
        return define(name, new Parameter());
    }

    /** The same scope as a branch may change it. */
    Symbols branch() {
        var copy = new Symbols(parent, function, level);
        copy.references.putAll(references);
        copy.loads.putAll(loads);
        copy.stores.addAll(stores);
        return copy;
    }

    /** Takes over what branches did: what only some of them assign begins with its value from outside. */
    void merge(List<Symbols> branches) {
        var assigned = new HashSet<String>();
        branches.forEach(branch -> assigned.addAll(branch.stores));
        assigned.removeAll(stores);
        for (var branch : branches) {
            references.putAll(branch.references);
            loads.putAll(branch.loads);
            stores.addAll(branch.stores);
        }
        for (String name : assigned) {
            var outer = parent == null ? null : parent.find(name);
            loads.put(slot(name), outer == null ? new Resolve(name) : new Alias(outer));
        }
    }

    private @Nullable Slot find(String name) {
        var slot = references.get(name);
        return slot != null || parent == null ? slot : parent.find(name);
    }

    private Slot define(String name, Load load) {
        var slot = new Slot(function, function.index(level, name));
        references.put(name, slot);
        loads.put(slot, load);
        return slot;
    }
}
