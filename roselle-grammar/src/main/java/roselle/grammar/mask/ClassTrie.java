package roselle.grammar.mask;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
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
    private final Map<Integer, Integer> only =
            new HashMap<>(); // nodes that are one of the vocabulary's trie, by that one

    /** A node while the trie is made. */
    private static final class Made {
        final int kind;
        final IntList nodes = new IntList();
        final IntList tokens = new IntList();
        final Map<Integer, Made> below = new HashMap<>(4);

        Made(int kind) {
            this.kind = kind;
        }
    }

    ClassTrie(TokenTrie trie, NodeSymbols symbols) {
        Made root = new Made(0);
        int count = collect(trie, symbols, root);
        this.kind = new short[count];
        this.end = new int[count];
        this.nodes = new int[count][];
        this.firstToken = new int[count + 1];
        IntList all = new IntList();
        int size = number(root, 0, all);
        this.tokens = all.toArray();
        firstToken[size] = tokens.length;
        for (int node = 0; node < count; node++) {
            if (nodes[node].length == 1) {
                only.put(nodes[node][0], node);
            }
        }
    }

    private static int collect(TokenTrie trie, NodeSymbols symbols, Made root) {
        int count = 1;
        Made[] places = new Made[trie.nodes]; // within symbols those before them
        byte[] toCome = new byte[trie.nodes]; // bytes of a symbol; -1 where none is read any more
        places[0] = root;
        root.nodes.add(0);
        for (int node = 1; node < trie.nodes; node++) {
            int above = symbols.parent[node];
            toCome[node] = toCome(toCome[above], trie.octet[node] & 0xFF);
            int kind = toCome[node] < 0 ? -1 : kindOf(trie.octet[node] & 0xFF, symbols.beyond(node), toCome[node]);
            if (kind < 0) {
                toCome[node] = -1;
                continue;
            }
            Made before = places[above];
            Made place = before.below.get(kind);
            if (place == null) {
                place = new Made(kind);
                before.below.put(kind, place);
                count++;
            }
            places[node] = toCome[node] > 0 ? before : place;
            place.nodes.add(node);
            for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
                place.tokens.add(token);
            }
        }
        return count;
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

    private int number(Made made, int first, IntList all) {
        kind[first] = (short) made.kind;
        nodes[first] = made.nodes.toArray();
        firstToken[first] = all.size();
        for (int token : made.tokens.toArray()) {
            all.add(token);
        }
        int next = first + 1;
        int[] kinds = made.below.keySet().stream().mapToInt(Integer::intValue).toArray();
        Arrays.sort(kinds);
        for (int of : kinds) {
            next = number(Objects.requireNonNull(made.below.get(of)), next, all);
        }
        end[first] = next;
        return next;
    }

    /** The node that is one of the vocabulary's trie alone; -1 where there is none. */
    int of(int node) {
        return only.getOrDefault(node, -1);
    }
}
