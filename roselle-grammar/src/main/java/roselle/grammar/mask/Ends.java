package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/**
 * The nodes of the trie at which a lexeme may end with bytes of tokens still to come. Those below one kind of end, if they are many, are
 * joined into {@link Tails}.
 */
final class Ends {
    static final Ends NONE = new Ends(new Lexeme[0], new int[0]);
    private static final int MIN_JOINED = 16;
    private static final int MAX_REMEMBERED = 64; // ends without some
    private static final int MAX_REMEMBERED_GONE = 4; // nodes

    final Lexeme[] lexemes;
    final int[] nodes;
    private volatile @Nullable List<Tails> tails;
    private volatile int @Nullable [] sorted; // the nodes; made when first asked for
    private final Map<Object, Ends> without = new ConcurrentHashMap<>(1); // by the nodes that are left out

    private Ends(Lexeme[] lexemes, int[] nodes) {
        this.lexemes = lexemes;
        this.nodes = nodes;
    }

    int size() {
        return nodes.length;
    }

    /** Those that are not at some nodes, which are sorted. */
    Ends without(int[] gone) {
        int[] hit = size() == 0 ? gone : those(gone);
        if (hit.length == 0 || size() == 0) {
            return this;
        }
        if (hit.length > MAX_REMEMBERED_GONE || size() < MIN_JOINED) {
            return filtered(hit, false);
        }
        Object key =
                hit.length == 1 ? (Object) hit[0] : IntStream.of(hit).boxed().toList();
        Ends known = without.get(key);
        if (known == null) {
            if (without.size() >= MAX_REMEMBERED) {
                without.clear();
            }
            known = filtered(hit, false);
            without.put(key, known);
        }
        return known;
    }

    /** Those that are not among others. */
    Ends without(Ends some) {
        return some.size() == size() ? NONE : some.size() == 0 ? this : filtered(some.sortedNodes(), false);
    }

    /** Those that are at some nodes, which are sorted. */
    Ends only(int[] some) {
        return some.length == size() ? this : some.length == 0 ? NONE : filtered(some, true);
    }

    private Ends filtered(int[] some, boolean isOfThose) {
        Builder kept = new Builder();
        for (int i = 0; i < size(); i++) {
            if (Arrays.binarySearch(some, nodes[i]) >= 0 == isOfThose) {
                kept.add(lexemes[i], nodes[i]);
            }
        }
        return kept.build();
    }

    /** The nodes in their order. */
    int[] sortedNodes() {
        int[] inOrder = sorted;
        if (inOrder == null) {
            inOrder = nodes.clone();
            Arrays.sort(inOrder);
            sorted = inOrder;
        }
        return inOrder;
    }

    /** Those of some nodes at which there is an end. */
    private int[] those(int[] some) {
        int[] inOrder = sortedNodes();
        int[] found = new int[some.length];
        int size = 0;
        for (int node : some) {
            if (Arrays.binarySearch(inOrder, node) >= 0) {
                found[size++] = node;
            }
        }
        return Arrays.copyOf(found, size);
    }

    /** The joined tails by end, or null if they are too few. */
    @SuppressWarnings("ReferenceEquality") // interned
    @Nullable
    List<Tails> tails(TokenTrie trie) {
        List<Tails> known = tails;
        if (known == null && size() >= MIN_JOINED) {
            known = new ArrayList<>();
            int from = 0;
            while (from < size()) {
                int to = from + 1;
                while (to < size() && lexemes[to] == lexemes[from]) {
                    to++;
                }
                known.add(Tails.of(trie, lexemes[from], nodes, from, to));
                from = to;
            }
            tails = known;
        }
        return known;
    }

    /** A growing list of ends. */
    static final class Builder {
        private Lexeme[] lexemes = new Lexeme[16];
        private int[] nodes = new int[16];
        private int size;

        void add(Lexeme lexeme, int node) {
            if (size == nodes.length) {
                lexemes = Arrays.copyOf(lexemes, 2 * size);
                nodes = Arrays.copyOf(nodes, 2 * size);
            }
            lexemes[size] = lexeme;
            nodes[size++] = node;
        }

        void addAll(Builder other) {
            for (int i = 0; i < other.size; i++) {
                add(other.lexemes[i], other.nodes[i]);
            }
        }

        void addAll(Ends other) {
            for (int i = 0; i < other.size(); i++) {
                add(other.lexemes[i], other.nodes[i]);
            }
        }

        /** The same, those of one lexeme together. */
        void addGrouped(Builder other) {
            var byLexeme = new IdentityHashMap<Lexeme, Builder>();
            List<Builder> inOrder = new ArrayList<>();
            for (int i = 0; i < other.size; i++) {
                Builder group = byLexeme.get(other.lexemes[i]);
                if (group == null) {
                    group = new Builder();
                    byLexeme.put(other.lexemes[i], group);
                    inOrder.add(group);
                }
                group.add(other.lexemes[i], other.nodes[i]);
            }
            inOrder.forEach(this::addAll);
        }

        int size() {
            return size;
        }

        Ends build() {
            return size == 0 ? NONE : new Ends(Arrays.copyOf(lexemes, size), Arrays.copyOf(nodes, size));
        }
    }
}
