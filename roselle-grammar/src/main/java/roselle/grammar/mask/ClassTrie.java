package roselle.grammar.mask;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import roselle.grammar.automaton.SymbolClasses;

/**
 * The vocabulary's trie with one node for all that spell alike but for letters of one case, digits, and symbols beyond ASCII: a few
 * thousand nodes in the place of some hundred thousand. Nodes stand between symbols and are in preorder. Immutable.
 *
 * <p>What no text in UTF-8 has, such as tokens that begin within a symbol, is left out.
 */
final class ClassTrie {
    /** Kinds below are symbols of ASCII, from here on {@link SymbolClasses#group groups}. */
    static final int GROUP = 128;

    /** From here on beginnings of symbols beyond ASCII, by bits of the groups beyond ASCII that they may become. */
    static final int PARTIAL = GROUP + SymbolClasses.GROUPS;

    /** The first of the groups beyond ASCII; those behind it are, too. */
    static final int BEYOND = 3;

    final short[] kind; // of the symbol that leads to a node
    final int[] end; // the first node behind those below
    final int[][] nodes; // of the vocabulary's trie
    final int[] tokens; // in the order of the nodes
    final int[] firstToken; // of a node, in these; one more at the end
    final long[] hashes; // the sum of those of so many of these tokens
    private final Map<Integer, Integer> only =
            new HashMap<>(); // nodes that are one of the vocabulary's trie, by that one

    /** Nodes in the order in which they are met, while the trie is made: parents come before what is below them. */
    private static final class Met {
        private static final int KINDS = 1 << 8;

        final int[] belongs; // to which of these each node of the vocabulary's trie does; -1 where to none
        int count = 1;
        private final int[] parent;
        private final int[] kind;
        private int[] slots = new int[1 << 12]; // by parent and kind, twice as many as nodes or more; 0 for none

        Met(TokenTrie trie, NodeSymbols symbols) {
            belongs = new int[trie.nodes];
            parent = new int[trie.nodes];
            kind = new int[trie.nodes];
            int[] places = new int[trie.nodes]; // within symbols those before them
            byte[] toCome = new byte[trie.nodes]; // bytes of a symbol; -1 where none is read any more
            for (int node = 1; node < trie.nodes; node++) {
                int above = symbols.parent[node];
                int octet = trie.octet[node] & 0xFF;
                toCome[node] = toCome(toCome[above], octet);
                int of = toCome[node] < 0 ? -1 : kindOf(octet, symbols.beyond(node), toCome[node]);
                if (of < 0) {
                    toCome[node] = -1;
                    belongs[node] = -1;
                    continue;
                }
                belongs[node] = below(places[above], of);
                places[node] = toCome[node] > 0 ? places[above] : belongs[node];
            }
        }

        private int below(int above, int wanted) {
            int at = slot(above, wanted);
            while (slots[at] != 0) {
                if (parent[slots[at]] == above && kind[slots[at]] == wanted) {
                    return slots[at];
                }
                at = at + 1 & slots.length - 1;
            }
            parent[count] = above;
            kind[count] = wanted;
            slots[at] = count;
            if (++count * 2 > slots.length) {
                slots = new int[2 * slots.length];
                for (int node = 1; node < count; node++) {
                    int free = slot(parent[node], kind[node]);
                    while (slots[free] != 0) {
                        free = free + 1 & slots.length - 1;
                    }
                    slots[free] = node;
                }
            }
            return count - 1;
        }

        private int slot(int above, int of) {
            int mixed = (above * KINDS + of) * 0x9E3779B9;
            return (mixed ^ mixed >>> 15) & slots.length - 1;
        }

        /** Where each stands in preorder, of siblings the lower kind first. */
        int[] preorder() {
            int[] sizes = new int[count]; // of all below, and the node itself
            for (int node = count - 1; node > 0; node--) {
                sizes[parent[node]] += ++sizes[node];
            }
            long[] siblings = new long[count - 1];
            for (int node = 1; node < count; node++) {
                siblings[node - 1] = ((long) parent[node] * KINDS + kind[node]) << 32 | node;
            }
            Arrays.sort(siblings);
            int[] place = new int[count];
            int[] free = new int[count]; // behind what is below a parent already
            for (long each : siblings) { // parents before what is below them
                int node = (int) each;
                int above = parent[node];
                free[above] = free[above] == 0 ? place[above] + 1 : free[above];
                place[node] = free[above];
                free[above] += sizes[node];
            }
            return place;
        }
    }

    ClassTrie(TokenTrie trie, NodeSymbols symbols) {
        Met met = new Met(trie, symbols);
        int[] place = met.preorder();
        this.kind = new short[met.count];
        this.end = new int[met.count];
        this.nodes = new int[met.count][];
        this.firstToken = new int[met.count + 1];
        int[] nodesOf = new int[met.count];
        int[] tokensOf = new int[met.count + 1];
        for (int node = 0; node < trie.nodes; node++) {
            if (met.belongs[node] >= 0) {
                int at = place[met.belongs[node]];
                nodesOf[at]++;
                for (int token = trie.token[node]; node > 0 && token >= 0; token = trie.nextSame[token]) {
                    tokensOf[at + 1]++;
                }
            }
        }
        for (int at = 0; at < met.count; at++) {
            nodes[at] = new int[nodesOf[at]];
            firstToken[at + 1] = firstToken[at] + tokensOf[at + 1];
        }
        this.tokens = new int[firstToken[met.count]];
        fill(trie, met, place);
        this.hashes = new long[tokens.length + 1];
        for (int i = 0; i < tokens.length; i++) {
            hashes[i + 1] = hashes[i] + TokenHash.of(tokens[i]);
        }
        for (int node = 0; node < met.count; node++) {
            kind[place[node]] = (short) met.kind[node];
            if (nodes[node].length == 1) {
                only.put(nodes[node][0], node);
            }
        }
    }

    private void fill(TokenTrie trie, Met met, int[] place) {
        int[] filled = new int[met.count];
        int[] free = firstToken.clone();
        for (int node = 0; node < trie.nodes; node++) {
            if (met.belongs[node] >= 0) {
                int at = place[met.belongs[node]];
                nodes[at][filled[at]++] = node;
                for (int token = trie.token[node]; node > 0 && token >= 0; token = trie.nextSame[token]) {
                    tokens[free[at]++] = token;
                }
            }
        }
        for (int node = met.count - 1; node >= 0; node--) {
            int at = place[node];
            end[at] = Math.max(end[at], at + 1);
            if (node > 0) {
                int above = place[met.parent[node]];
                end[above] = Math.max(end[above], end[at]);
            }
        }
    }

    private static byte toCome(int above, int octet) {
        if (above != 0) {
            return (byte) (above > 0 && (octet & 0xC0) == 0x80 ? above - 1 : -1);
        }
        return (byte)
                (octet < 0x80 ? 0 : octet < 0xC2 || octet > 0xF4 ? -1 : octet >= 0xF0 ? 3 : octet >= 0xE0 ? 2 : 1);
    }

    /** The kind of a node's symbol; -1 where no symbol begins so. */
    private static int kindOf(int octet, long beyond, int toCome) {
        int bits = 0;
        for (int group = 0; group < SymbolClasses.GROUPS; group++) {
            long classes = octet < 0x80 ? 1L << SymbolClasses.of(octet) : beyond;
            if ((classes & SymbolClasses.group(group)) != 0) {
                bits |= 1 << group;
            }
        }
        if (octet < 0x80) {
            return bits == 0 ? octet : GROUP + Integer.numberOfTrailingZeros(bits);
        }
        if (bits == 0) {
            return -1;
        }
        return toCome > 0 ? PARTIAL + (bits >>> BEYOND) : GROUP + Integer.numberOfTrailingZeros(bits);
    }

    /** The node that is one of the vocabulary's trie alone; -1 where there is none. */
    int of(int node) {
        return only.getOrDefault(node, -1);
    }
}
