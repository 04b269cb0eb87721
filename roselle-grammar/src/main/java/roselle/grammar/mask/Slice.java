package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Symbols;

/**
 * The tokens that are made of symbols of a set alone, and the nodes of the trie that lead out of them. Where a lexeme goes on
 * alike with all these symbols, what lies between two such nodes is inside it without a walk, and only what lies below them is walked.
 */
final class Slice {
    /** So large a part of all tokens below a node is worth a set of its own, which others share. */
    private static final int SHARED = 64;

    private static final int MAX_SHARED = 64;

    /** What lies below the root: how it is left, and the tokens by their most symbols, made when they are asked for. */
    private record Root(List<Edge> edges, List<@Nullable Dense> atMost) {}

    /** Nodes that lead out with the same symbol, behind so many symbols of the slice. */
    @SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
    record Edge(int[] octets, int symbols, int[] nodes) {}

    private final TokenTrie trie;
    private final NodeSymbols symbols;
    private final long[] outside;
    private final int words;
    private @Nullable Root root;
    private final Map<Integer, Dense> below = new HashMap<>();
    private final AtomicLong sum; // of the bytes of all slices that are kept, this among them
    private long bytes;
    private boolean isKept = true;

    /** A slice that adds what it takes to a sum, now and whenever it grows, until it is {@link #drop dropped}. */
    Slice(TokenTrie trie, NodeSymbols symbols, Symbols set, int words, AtomicLong sum) {
        this.trie = trie;
        this.symbols = symbols;
        this.outside = symbols.outside(set);
        this.words = words;
        this.sum = sum;
        grow(8L * outside.length);
    }

    /** Bytes that it takes by now. */
    synchronized long bytes() {
        return bytes;
    }

    /** Takes what this one takes out of the sum, for good. Whoever has it may go on with it. */
    synchronized void drop() {
        isKept = false;
        sum.addAndGet(-bytes);
    }

    private synchronized void grow(long more) {
        bytes += more;
        if (isKept) {
            sum.addAndGet(more);
        }
    }

    /** The first node of a range that leads out; the range's end where none does. */
    int nextOutside(int from, int to) {
        int word = from >>> 6;
        long rest = outside[word] & -1L << from;
        while (rest == 0) {
            if (++word << 6 >= to) {
                return to;
            }
            rest = outside[word];
        }
        return Math.min(to, (word << 6) + Long.numberOfTrailingZeros(rest));
    }

    private synchronized Root root() {
        Root known = root;
        if (known == null) {
            known = findRoot();
            root = known;
            long size = 8L * known.atMost.size();
            for (Edge edge : known.edges) {
                size += 64 + 4L * edge.nodes.length;
            }
            grow(size);
        }
        return known;
    }

    private Root findRoot() {
        TreeMap<Long, IntList> byKey = new TreeMap<>();
        int most = 0;
        int node = 1;
        while (node < trie.nodes) {
            int exit = nextOutside(node, trie.nodes);
            for (; node < exit; node++) {
                most = Math.max(most, symbols.symbols[node]);
            }
            if (exit < trie.nodes) {
                byKey.computeIfAbsent(key(exit), key -> new IntList()).add(exit);
                node = trie.end[exit];
            }
        }
        List<Edge> edges = new ArrayList<>();
        byKey.forEach((key, nodes) -> edges.add(edge(key, nodes.toArray())));
        return new Root(edges, new ArrayList<>(Collections.nCopies(most + 1, null)));
    }

    private long key(int exit) {
        long octets = 0;
        int node = exit;
        for (int i = 0; i <= symbols.before[exit]; i++) {
            octets |= (long) (trie.octet[node] & 0xFF) << (8 * i);
            node = symbols.parent[node];
        }
        return octets << 24 | (long) symbols.symbols[node] << 8 | symbols.before[exit];
    }

    private static Edge edge(long key, int[] nodes) {
        int[] octets = new int[(int) (key & 0xFF) + 1];
        for (int i = 0; i < octets.length; i++) {
            octets[octets.length - 1 - i] = (int) (key >>> (24 + 8 * i)) & 0xFF;
        }
        return new Edge(octets, (int) (key >>> 8) & 0xFFFF, nodes);
    }

    /** The most symbols of a token, one that it ends within counted, or before an edge. */
    int maxSymbols() {
        return root().atMost.size() - 1;
    }

    /** Whether so many tokens are below a node that {@link #below} has them as a set. */
    boolean hasBelow(int node) {
        int count = symbols.firstToken[trie.end[node]] - symbols.firstToken[node];
        return count > symbols.tokens.length / SHARED;
    }

    List<Edge> edges() {
        return root().edges;
    }

    /** The tokens that take at most so many symbols. */
    synchronized Dense atMost(int most) {
        Dense known = root().atMost.get(most);
        if (known == null) {
            known = make(0, most);
            root().atMost.set(most, known);
            grow(8L * words);
        }
        return known;
    }

    /** The tokens that go on from a node with symbols of the slice alone, where there are many. */
    synchronized Dense below(int node) {
        Dense known = below.get(node);
        if (known == null) {
            if (below.size() >= MAX_SHARED) {
                grow(-8L * words * below.size());
                below.clear();
            }
            known = make(node, Integer.MAX_VALUE);
            below.put(node, known);
            grow(8L * words);
        }
        return known;
    }

    private Dense make(int parent, int most) {
        long[] bits = new long[words];
        int last = trie.end[parent];
        int node = parent + 1;
        while (node < last) {
            int exit = nextOutside(node, last);
            if (most == Integer.MAX_VALUE) {
                for (int i = symbols.firstToken[node]; i < symbols.firstToken[exit]; i++) {
                    bits[symbols.tokens[i] >>> 6] |= 1L << symbols.tokens[i];
                }
            } else {
                for (; node < exit; node++) {
                    take(node, most, bits);
                }
            }
            node = exit < last ? trie.end[exit] : last;
        }
        return Dense.of(bits);
    }

    private void take(int node, int most, long[] bits) {
        for (int token = symbols.symbols[node] <= most ? trie.token[node] : -1;
                token >= 0;
                token = trie.nextSame[token]) {
            bits[token >>> 6] |= 1L << token;
        }
    }
}
