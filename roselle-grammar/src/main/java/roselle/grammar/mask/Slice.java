package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.SymbolClasses;

/**
 * The tokens that are made of symbols of some classes alone, and the edges of the trie that lead out of them. Where a lexeme goes on
 * alike with all these symbols, the slice's tokens are inside it without a walk, and only what lies behind the edges is walked.
 */
final class Slice {
    /** Nodes that one octet leads to behind so many symbols of the slice. */
    @SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
    record Edge(int octet, int symbols, int[] nodes) {}

    private final long classes;
    private final int[][] bySymbols; // the tokens that need so many symbols
    private final @Nullable Dense[] atMost;
    private final List<Edge> edges = new ArrayList<>();
    private final int words;

    Slice(TokenTrie trie, long classes, int words) {
        this.classes = classes;
        this.words = words;
        Maker maker = new Maker(trie, classes);
        maker.below(0, 0);
        this.bySymbols = maker.tokens.stream().map(IntList::toArray).toArray(int[][]::new);
        this.atMost = new Dense[bySymbols.length];
        maker.edges.forEach((key, nodes) -> edges.add(new Edge(key >>> 16, key & 0xFFFF, nodes.toArray())));
    }

    long classes() {
        return classes;
    }

    /** The most symbols of a token, one that it ends within counted, or before an edge. */
    int maxSymbols() {
        return bySymbols.length - 1;
    }

    List<Edge> edges() {
        return edges;
    }

    /** The tokens that take at most so many symbols. */
    synchronized Dense atMost(int symbols) {
        Dense known = atMost[symbols];
        if (known == null) {
            long[] bits = new long[words];
            for (int[] tokens : Arrays.copyOf(bySymbols, symbols + 1)) {
                for (int token : tokens) {
                    bits[token >>> 6] |= 1L << token;
                }
            }
            known = Dense.of(bits);
            atMost[symbols] = known;
        }
        return known;
    }

    /** Goes through the trie once. */
    private static final class Maker {
        private final TokenTrie trie;
        private final long classes;
        private final boolean isBeyond;
        final List<IntList> tokens = new ArrayList<>();
        final TreeMap<Integer, IntList> edges = new TreeMap<>();

        Maker(TokenTrie trie, long classes) {
            this.trie = trie;
            this.classes = classes;
            // Of the separators that end lines no token is a part; where one is, its bytes are an edge.
            this.isBeyond = (classes & 1L << SymbolClasses.of(0x80)) != 0;
            tokens.add(new IntList());
        }

        void below(int parent, int symbols) {
            for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
                int octet = trie.childOctet[i] & 0xFF;
                int node = trie.child[i];
                if (octet < 0x80 && (classes & 1L << SymbolClasses.of(octet)) != 0) {
                    take(node, symbols + 1);
                    below(node, symbols + 1);
                } else if (isBeyond && octet >= 0xC2 && octet <= 0xF4 && octet != 0xE2) {
                    within(node, symbols, octet, octet >= 0xF0 ? 3 : octet >= 0xE0 ? 2 : 1);
                } else {
                    edges.computeIfAbsent(octet << 16 | symbols, key -> new IntList())
                            .add(node);
                }
            }
        }

        /** Within a character of UTF-8. */
        private void within(int parent, int symbols, int before, int toCome) {
            take(parent, symbols + 1);
            if (toCome == 0) {
                below(parent, symbols + 1);
                return;
            }
            for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
                int octet = trie.childOctet[i] & 0xFF;
                if (octet >= least(before) && octet <= most(before)) {
                    within(trie.child[i], symbols, octet, toCome - 1);
                }
            }
        }

        private static int least(int before) {
            return before == 0xE0 ? 0xA0 : before == 0xF0 ? 0x90 : 0x80;
        }

        private static int most(int before) {
            return before == 0xED ? 0x9F : before == 0xF4 ? 0x8F : 0xBF;
        }

        private void take(int node, int symbols) {
            while (tokens.size() <= symbols) {
                tokens.add(new IntList());
            }
            for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
                tokens.get(symbols).add(token);
            }
        }
    }
}
