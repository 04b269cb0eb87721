package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.SymbolClasses;
import roselle.grammar.automaton.Symbols;

/**
 * Which classes the symbol of a trie's node is of, and the tokens in the order of the nodes: what lies between two nodes is then one
 * range of them.
 *
 * <p>The bytes on the way to a node are read as UTF-8. Those before the first that begins a symbol are the rest of one that another
 * token began. A byte that continues nothing is of no class.
 */
final class NodeSymbols {
    private static final long NONE = 0;

    /** The node above. */
    final int[] parent;

    /** Bytes of the node's symbol before its own. */
    final byte[] before;

    /** Symbols from the root to the node, its own counted. */
    final short[] symbols;

    /** Tokens in the order of their nodes. */
    final int[] tokens;

    /** Of a token, in {@link #tokens}. */
    final int[] rank;

    /** The node at which a token ends. */
    final int[] nodeOf;

    /** Of a node, in {@link #tokens}; one more at the end. */
    final int[] firstToken;

    private final int most; // symbols of a token
    private final TokenTrie trie;
    private final short[] kind; // of a node: a symbol of ASCII, or behind those an index of the next
    private final int[] @Nullable []
            longer; // nodes by a number of symbols; made when asked for, perhaps by two threads alike
    private final List<Long> classes = new ArrayList<>();
    private volatile int @Nullable [][] bySymbol; // made when asked for, as the next
    private final Map<Integer, int[]> pairs = new ConcurrentHashMap<>();

    NodeSymbols(TokenTrie trie) {
        this.trie = trie;
        this.parent = new int[trie.nodes];
        this.before = new byte[trie.nodes];
        this.symbols = new short[trie.nodes];
        this.kind = new short[trie.nodes];
        this.firstToken = new int[trie.nodes + 1];
        this.nodeOf = new int[trie.nextSame.length];
        int[] inOrder = new int[trie.nextSame.length];
        int count = 0;
        int[] first = new int[trie.nodes]; // code points that the bytes of a symbol may become
        int[] last = new int[trie.nodes];
        byte[] toCome = new byte[trie.nodes]; // bytes of the symbol; -1 where none has begun
        kind[0] = kindOf(NONE);
        toCome[0] = -1;
        for (int node = 0; node < trie.nodes; node++) {
            firstToken[node] = count;
            for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
                inOrder[count++] = token;
                nodeOf[token] = node;
            }
            for (int i = trie.firstChild[node]; i < trie.firstChild[node + 1]; i++) {
                int child = trie.child[i];
                parent[child] = node;
                read(child, node, first, last, toCome);
            }
        }
        firstToken[trie.nodes] = count;
        int longest = 0;
        for (short of : symbols) {
            longest = Math.max(longest, of);
        }
        this.most = longest;
        this.longer = new int[trie.maxDepth + 1][];
        this.tokens = Arrays.copyOf(inOrder, count);
        this.rank = new int[inOrder.length];
        for (int i = 0; i < count; i++) {
            rank[tokens[i]] = i;
        }
    }

    private void read(int node, int above, int[] first, int[] last, byte[] toCome) {
        int octet = trie.octet[node] & 0xFF;
        int rest = toCome[above];
        long found = NONE;
        symbols[node] = symbols[above];
        if (rest > 0 && !isContinuing(octet)) {
            before[node] = (byte) (before[above] + 1); // the symbol is broken off, and this byte is read within it
        } else if (rest <= 0 && isContinuing(octet)) {
            toCome[node] = (byte) rest; // of a symbol that began elsewhere, or of none
        } else if (rest <= 0) {
            rest = octet < 0x80 ? 0 : octet >= 0xF0 ? 3 : octet >= 0xE0 ? 2 : 1;
            toCome[node] = (byte) rest;
            symbols[node]++;
            int bits = octet < 0x80 ? octet : octet & (0x3F >> rest);
            int least = rest == 0 ? 0 : rest == 1 ? 0x80 : rest == 2 ? 0x800 : 0x10000;
            first[node] = Math.max(bits << (6 * rest), least);
            last[node] = Math.min(((bits + 1) << (6 * rest)) - 1, Character.MAX_CODE_POINT);
            found = octet > 0xF4 ? NONE : classes(first[node], last[node]);
        } else {
            toCome[node] = (byte) (rest - 1);
            before[node] = (byte) (before[above] + 1);
            int from = firstOfAll(first[above], rest) + ((octet & 0x3F) << (6 * (rest - 1)));
            first[node] = Math.max(from, first[above]);
            last[node] = Math.min(from + (1 << (6 * (rest - 1))) - 1, last[above]);
            found = classes(first[node], last[node]);
        }
        kind[node] = octet < 0x80 && found != NONE ? (short) octet : kindOf(found);
    }

    /** The first code point with the bytes so far, even if it is to be spelled with fewer. */
    private static int firstOfAll(int first, int toCome) {
        return first & -(1 << (6 * toCome));
    }

    private static boolean isContinuing(int octet) {
        return (octet & 0xC0) == 0x80;
    }

    private static long classes(int first, int last) {
        boolean isOfSurrogates = first >= Character.MIN_SURROGATE && last <= Character.MAX_SURROGATE;
        return first > last || isOfSurrogates ? NONE : SymbolClasses.between(first, last);
    }

    private short kindOf(long found) {
        int at = classes.indexOf(found);
        if (at < 0) {
            at = classes.size();
            classes.add(found);
        }
        return (short) (128 + at);
    }

    /** The most symbols of a token. */
    int most() {
        return most;
    }

    /** The nodes of tokens with more than so many symbols, in their order. */
    int[] longerThan(int most) {
        int at = Math.max(0, Math.min(most, longer.length - 1));
        int[] known = longer[at];
        if (known == null) {
            IntList found = new IntList();
            for (int node = 1; node < trie.nodes; node++) {
                if (symbols[node] > at && trie.token[node] >= 0) {
                    found.add(node);
                }
            }
            known = found.toArray();
            longer[at] = known;
        }
        return known;
    }

    /** The nodes of a symbol of ASCII whose symbol before is another one of ASCII, in their order. */
    int[] pairs(int before, int symbol) {
        return pairs.computeIfAbsent(before << 7 | symbol, key -> {
            IntList found = new IntList();
            for (int node : ofSymbol(symbol)) {
                if (parent[node] > 0 && trie.octet[parent[node]] == before) {
                    found.add(node);
                }
            }
            return found.toArray();
        });
    }

    private int[] ofSymbol(int symbol) {
        int @Nullable [][] known = bySymbol;
        if (known == null) {
            IntList[] found = new IntList[128];
            Arrays.setAll(found, any -> new IntList());
            for (int node = 1; node < trie.nodes; node++) {
                if (kind[node] < found.length) {
                    found[kind[node]].add(node);
                }
            }
            known = new int[found.length][];
            Arrays.setAll(known, of -> found[of].toArray());
            bySymbol = known;
        }
        return known[symbol];
    }

    /** Classes that the symbol of a node beyond ASCII may become one of, as bits; none where it cannot become a symbol. */
    long beyond(int node) {
        return kind[node] < 128 ? NONE : classes.get(kind[node] - 128);
    }

    /** The node before the first byte of a node's symbol. */
    int above(int node) {
        int at = parent[node];
        for (int i = before[node]; i > 0; i--) {
            at = parent[at];
        }
        return at;
    }

    /** The kinds that cannot become a symbol of a set. */
    private boolean[] outsideByKind(Symbols set) {
        boolean[] isOutside = new boolean[128 + classes.size()];
        for (int i = 0; i < isOutside.length; i++) {
            isOutside[i] = i < 128 ? !set.has(i) : (classes.get(i - 128) & set.beyond()) == 0;
        }
        return isOutside;
    }

    /** The nodes whose bytes cannot become a symbol of a set, one bit each. */
    long[] outside(Symbols set) {
        boolean[] isOutside = outsideByKind(set);
        long[] nodes = new long[(trie.nodes + 63) >>> 6];
        for (int node = 1; node < trie.nodes; node++) {
            nodes[node >>> 6] |= isOutside[kind[node]] ? 1L << node : 0;
        }
        return nodes;
    }
}
