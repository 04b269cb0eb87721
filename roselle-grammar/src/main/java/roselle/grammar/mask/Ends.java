package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/**
 * The nodes of the trie at which a lexeme may end with bytes of tokens still to come. Those below one kind of end, if they are many, are
 * joined into {@link Tails}.
 */
final class Ends {
    static final Ends NONE = new Ends(new Lexeme[0], new int[0]);
    private static final int MIN_JOINED = 16;

    final Lexeme[] lexemes;
    final int[] nodes;
    private volatile @Nullable List<Tails> tails;

    private Ends(Lexeme[] lexemes, int[] nodes) {
        this.lexemes = lexemes;
        this.nodes = nodes;
    }

    int size() {
        return nodes.length;
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
