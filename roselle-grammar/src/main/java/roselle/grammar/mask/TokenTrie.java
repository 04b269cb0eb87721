package roselle.grammar.mask;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * All tokens by their bytes, as nodes in preorder: node 0 is the root, the children of a node follow it, and {@link #end} tells where
 * its subtree stops, so that a walk skips what is forbidden by jumping forward.
 */
final class TokenTrie {
    final byte[] octet; // of the edge to the node
    final int[] end; // the first node behind the subtree
    final int[] token; // an id that ends here, or -1
    final short[] depth; // bytes from the root
    final int[] nextSame; // for an id: the next one with the same bytes, or -1
    final int nodes;
    final int maxDepth;
    final int[] firstChild; // of a node, in the next two
    final int[] child;
    final byte[] childOctet;
    private final Map<Integer, boolean[]> hasBelow = new HashMap<>();

    TokenTrie(byte[][] tokens) {
        int[] order = inOrder(tokens);
        int count = 1 + countNodes(tokens, order);
        octet = new byte[count];
        end = new int[count];
        token = new int[count];
        depth = new short[count];
        nextSame = new int[tokens.length];
        Arrays.fill(nextSame, -1);
        Arrays.fill(token, -1);
        nodes = count;
        maxDepth = fill(tokens, order);
        firstChild = new int[nodes + 1];
        child = new int[nodes];
        childOctet = new byte[nodes];
        int at = 0;
        for (int node = 0; node < nodes; node++) {
            firstChild[node] = at;
            for (int below = node + 1; below < end[node]; below = end[below]) {
                childOctet[at] = octet[below];
                child[at++] = below;
            }
        }
        firstChild[nodes] = at;
    }

    /** The child of a node by an octet, or -1. */
    int child(int node, int wanted) {
        int from = firstChild[node];
        int to = firstChild[node + 1];
        while (from < to) { // sorted by octet
            int middle = (from + to) >>> 1;
            int found = childOctet[middle] & 0xFF;
            if (found == wanted) {
                return child[middle];
            }
            if (found < wanted) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return -1;
    }

    /** Whether an octet stands at a node or below it, for each node. */
    synchronized boolean[] hasBelow(int wanted) {
        return hasBelow.computeIfAbsent(wanted, key -> {
            boolean[] has = new boolean[nodes];
            for (int node = nodes - 1; node >= 0; node--) {
                has[node] = node > 0 && (octet[node] & 0xFF) == key;
                for (int i = firstChild[node]; i < firstChild[node + 1]; i++) {
                    has[node] |= has[child[i]];
                }
            }
            return has;
        });
    }

    /** How many children a node has. */
    int children(int node) {
        return firstChild[node + 1] - firstChild[node];
    }

    /** The tokens in the order of their bytes, equal ones in that of their ids. */
    private static int[] inOrder(byte[][] tokens) {
        long[] keys = new long[tokens.length]; // first bytes, id
        int size = 0;
        for (int id = 0; id < tokens.length; id++) {
            if (tokens[id].length > 0 && tokens[id].length < Short.MAX_VALUE) {
                keys[size++] = (long) firstBytes(tokens[id]) << 32 | id;
            }
        }
        Arrays.sort(keys, 0, size);
        int[] order = new int[size];
        for (int from = 0; from < size; ) {
            int to = from;
            while (to < size && keys[to] >> 32 == keys[from] >> 32) {
                order[to] = (int) keys[to++];
            }
            sortByBytes(tokens, order, from, to);
            from = to;
        }
        return order;
    }

    /** The first four bytes, so that they are in order as numbers; zeros where there are fewer. */
    private static int firstBytes(byte[] token) {
        int first = 0;
        for (int i = 0; i < Integer.BYTES; i++) {
            first = first << 8 | (i < token.length ? token[i] & 0xFF : 0);
        }
        return first ^ Integer.MIN_VALUE;
    }

    private static void sortByBytes(byte[][] tokens, int[] order, int from, int to) {
        if (to - from > 1) {
            Integer[] some = new Integer[to - from];
            for (int i = from; i < to; i++) {
                some[i - from] = order[i];
            }
            Arrays.sort(some, (a, b) -> Arrays.compareUnsigned(tokens[a], tokens[b]));
            for (int i = from; i < to; i++) {
                order[i] = some[i - from];
            }
        }
    }

    private static int countNodes(byte[][] tokens, int[] order) {
        int count = 0;
        byte[] before = {};
        for (int id : order) {
            count += tokens[id].length - shared(before, tokens[id]);
            before = tokens[id];
        }
        return count;
    }

    private static int shared(byte[] a, byte[] b) {
        int at = Arrays.mismatch(a, b);
        return at < 0 ? a.length : at;
    }

    private int fill(byte[][] tokens, int[] order) {
        int deepest = 0;
        for (int id : order) {
            deepest = Math.max(deepest, tokens[id].length);
        }
        int[] path = new int[deepest + 1];
        int length = 0;
        int node = 1;
        byte[] before = {};
        for (int id : order) {
            byte[] bytes = tokens[id];
            int same = shared(before, bytes);
            while (length > same) {
                end[path[length--]] = node;
            }
            while (length < bytes.length) {
                octet[node] = bytes[length];
                path[++length] = node;
                depth[node++] = (short) length;
            }
            nextSame[id] = token[path[length]];
            token[path[length]] = id;
            before = bytes;
        }
        while (length >= 0) {
            end[path[length--]] = node;
        }
        return deepest;
    }

    boolean hasChildren(int node) {
        return end[node] > node + 1;
    }
}
