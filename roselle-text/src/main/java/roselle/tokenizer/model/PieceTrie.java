package roselle.tokenizer.model;

import java.util.Arrays;
import roselle.api.CheckpointException;

/**
 * The spellings of a vocabulary as a tree of characters: all tokens that begin at one place, shortest first.
 *
 * <p>Edges lie in one hash table with open addressing, so that 250,000 spellings cost no object each.
 */
public final class PieceTrie {
    static final int ROOT = 0;
    static final int NONE = -1;

    /** How far a text is read at each place: the longest tokens in use have some forty characters. */
    static final int MAX_SPELLING = 512;

    private long[] edges = new long[1 << 12]; // (node << 16 | character) + 1, 0 = free
    private int[] targets = new int[1 << 12]; // the node an edge leads to
    private int[] ids = new int[1 << 10]; // [nodes] the token that ends there or NONE
    private int nodes = 1;

    public PieceTrie() {
        Arrays.fill(ids, NONE);
    }

    /** Adds a spelling that is not empty; a later token of the same spelling wins. */
    public void insert(String spelling, int id) {
        if (spelling.length() > MAX_SPELLING) {
            throw new CheckpointException("token " + id + " has " + spelling.length()
                    + " characters, the limit for a model that tries all tokens at each place is " + MAX_SPELLING);
        }
        int node = ROOT;
        for (int i = 0; i < spelling.length(); i++) {
            node = childOrNew(node, spelling.charAt(i));
        }
        ids[node] = id;
    }

    /** The node that {@code character} leads to from {@code node}, or {@link #NONE}. */
    int child(int node, char character) {
        int slot = slotOf(edges, key(node, character));
        return edges[slot] == 0 ? NONE : targets[slot];
    }

    /** The token that ends at {@code node}, or {@link #NONE}. */
    int token(int node) {
        return ids[node];
    }

    /** The length of the longest spelling at {@code text[start]}, or 0. */
    public int longest(String text, int start) {
        int node = ROOT;
        int length = 0;
        for (int at = start; at < text.length(); at++) {
            node = child(node, text.charAt(at));
            if (node == NONE) {
                break;
            }
            length = ids[node] == NONE ? length : at + 1 - start;
        }
        return length;
    }

    /** The token spelled {@code text[start, end)}, or {@link #NONE}. */
    int find(String text, int start, int end) {
        int node = ROOT;
        for (int at = start; at < end && node != NONE; at++) {
            node = child(node, text.charAt(at));
        }
        return node == NONE ? NONE : ids[node];
    }

    private int childOrNew(int node, char character) {
        long key = key(node, character);
        int slot = slotOf(edges, key);
        if (edges[slot] != 0) {
            return targets[slot];
        }
        if (2 * nodes >= edges.length) {
            rehash();
            slot = slotOf(edges, key);
        }
        edges[slot] = key;
        targets[slot] = nodes;
        if (nodes == ids.length) {
            ids = Arrays.copyOf(ids, 2 * nodes);
            Arrays.fill(ids, nodes, ids.length, NONE);
        }
        return nodes++;
    }

    private void rehash() {
        long[] largerEdges = new long[edges.length * 2];
        int[] largerTargets = new int[edges.length * 2];
        for (int i = 0; i < edges.length; i++) {
            if (edges[i] != 0) {
                int slot = slotOf(largerEdges, edges[i]);
                largerEdges[slot] = edges[i];
                largerTargets[slot] = targets[i];
            }
        }
        edges = largerEdges;
        targets = largerTargets;
    }

    private static long key(int node, char character) {
        return ((long) node << 16 | character) + 1;
    }

    private static int slotOf(long[] edges, long key) {
        int mask = edges.length - 1;
        long mixed = key * 0x9E3779B97F4A7C15L;
        int slot = (int) (mixed >>> 40) & mask;
        while (edges[slot] != 0 && edges[slot] != key) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }
}
