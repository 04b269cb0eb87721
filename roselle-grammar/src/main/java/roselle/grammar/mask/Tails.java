package roselle.grammar.mask;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/** What follows one end of a lexeme in tokens: the trie below all nodes at which it ends, joined. */
record Tails(Lexeme end, Node root) {
    private static final int FEW = 64; // children that are sorted by comparing

    static Tails of(TokenTrie trie, Lexeme end, int[] nodes, int from, int to) {
        return new Tails(end, new Node(trie, nodes, from, to));
    }

    /** Some nodes of the trie as one. What is below is joined when first asked for: most of it never is. Thread-safe. */
    static final class Node {
        private final TokenTrie trie;
        private final int[] nodes;
        private final int from;
        private final int to;
        private final int size;
        private volatile @Nullable Below below;

        Node(TokenTrie trie, int[] nodes, int from, int to) {
            this.trie = trie;
            this.nodes = nodes;
            this.from = from;
            this.to = to;
            int size = 0;
            for (int i = from; i < to; i++) {
                size += trie.end[nodes[i]] - nodes[i] - 1;
            }
            this.size = size;
        }

        /** The trie's nodes below. */
        int size() {
            return size;
        }

        /** How many nodes of the trie this one is. */
        int count() {
            return to - from;
        }

        /** One of those nodes. */
        int node(int i) {
            return nodes[from + i];
        }

        Below below() {
            Below known = below;
            if (known == null) {
                known = join();
                below = known;
            }
            return known;
        }

        private Below join() {
            int count = 0;
            for (int i = from; i < to; i++) {
                count += trie.children(nodes[i]);
            }
            long[] children = new long[count]; // octet, node
            int at = 0;
            for (int i = from; i < to; i++) {
                for (int child = trie.firstChild[nodes[i]]; child < trie.firstChild[nodes[i] + 1]; child++) {
                    children[at++] = (trie.childOctet[child] & 0xFFL) << 32 | trie.child[child];
                }
            }
            if (to - from > 1) {
                children = sorted(children);
            }
            return below(children);
        }

        private static long[] sorted(long[] children) {
            if (children.length <= FEW) {
                Arrays.sort(children);
                return children;
            }
            int[] next = new int[257];
            for (long child : children) {
                next[(int) (child >>> 32) + 1]++;
            }
            for (int octet = 0; octet < 256; octet++) {
                next[octet + 1] += next[octet];
            }
            long[] sorted = new long[children.length];
            for (long child : children) {
                sorted[next[(int) (child >>> 32)]++] = child;
            }
            return sorted;
        }

        private Below below(long[] children) {
            int[] octets = new int[Math.min(256, children.length)];
            int[] first = new int[octets.length + 1];
            int[] below = new int[children.length];
            int kinds = 0;
            for (int i = 0; i < children.length; i++) {
                below[i] = (int) children[i];
                if (i == 0 || children[i] >>> 32 != children[i - 1] >>> 32) {
                    octets[kinds] = (int) (children[i] >>> 32);
                    first[kinds++] = i;
                }
            }
            first[kinds] = children.length;
            return new Below(trie, Arrays.copyOf(octets, kinds), below, first, new Node[kinds]);
        }
    }

    /** The children of a node by their octets; each is made when first asked for, perhaps by two threads alike. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Below(
            TokenTrie trie,
            int[] octets,
            int[] nodes,
            int[] first,
            @Nullable Node[] made) {
        Node child(int i) {
            Node known = made[i];
            if (known == null) {
                known = new Node(trie, nodes, first[i], first[i + 1]);
                made[i] = known;
            }
            return known;
        }
    }
}
