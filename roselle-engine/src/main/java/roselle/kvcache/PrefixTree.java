package roselle.kvcache;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A radix tree over token ids whose every edge is one page of tokens; there is one root for each {@link PrefixScope}.
 *
 * <p>Nodes are numbers, their fields are arrays, and nothing is allocated once the tree stands (but for a new root's scope).
 * A child is found by hash of its parent and tokens, then compared exactly: equal hashes never share a page. A node holds
 * one page for each KV group, −1 where that group's page is gone; {@code users} counts the sequences that have the page in
 * their tables, {@code locks} those that stand on the node (its ancestors are safe because it is their child).
 */
final class PrefixTree {
    static final int NONE = -1;

    /** Siblings compared, newest first, for a page that begins like the tokens wanted. */
    private static final int SIBLINGS_COMPARED = 128;

    private final int pageTokens;
    private final long hashSeed;
    private final int[] tokens; // [nodes, pageTokens]
    private final int[] parent; // [nodes]; NONE for a root
    private final int[] firstChild; // [nodes]
    private final int[] nextSibling; // [nodes]; of an unused node: the next unused one
    private final int[] previousSibling; // [nodes]
    private final int[] hash; // [nodes]
    private final int[] nextInBucket; // [nodes]
    private final int[] bucket; // [power of two]
    private final Map<PrefixScope, Integer> roots = new HashMap<>();
    private final @Nullable PrefixScope[] scope; // [nodes]; of a root
    private final long[] number; // [nodes]; told of pages that enter and leave, 0 for a root
    private long lastNumber;
    private volatile @Nullable PageEvents events;
    private int unused; // the first unused node
    private int size;

    final int[][] page; // [groups, nodes]
    final int[][] users; // [groups, nodes]
    final int[] locks; // [nodes]
    final long[] lastUse; // [nodes]

    PrefixTree(int groups, int capacity, int pageTokens, long hashSeed) {
        this.pageTokens = pageTokens;
        this.hashSeed = hashSeed;
        tokens = new int[Math.multiplyExact(capacity, pageTokens)];
        parent = filled(capacity);
        firstChild = filled(capacity);
        nextSibling = filled(capacity);
        previousSibling = filled(capacity);
        nextInBucket = filled(capacity);
        hash = new int[capacity];
        bucket = filled(Integer.highestOneBit(Math.max(2, capacity)) * 2);
        scope = new PrefixScope[capacity];
        number = new long[capacity];
        page = new int[groups][];
        users = new int[groups][capacity];
        for (int group = 0; group < groups; group++) {
            page[group] = filled(capacity);
        }
        locks = new int[capacity];
        lastUse = new long[capacity];
        for (int node = 0; node < capacity; node++) {
            nextSibling[node] = node + 1 < capacity ? node + 1 : NONE;
        }
    }

    private static int[] filled(int length) {
        int[] array = new int[length];
        Arrays.fill(array, NONE);
        return array;
    }

    int capacity() {
        return parent.length;
    }

    /** Nodes in the tree, roots included. */
    int size() {
        return size;
    }

    boolean isFull() {
        return unused == NONE;
    }

    boolean isRoot(int node) {
        return parent[node] == NONE;
    }

    boolean isLeaf(int node) {
        return firstChild[node] == NONE;
    }

    int parent(int node) {
        return parent[node];
    }

    int root(PrefixScope of) {
        return roots.getOrDefault(of, NONE);
    }

    Iterable<Integer> roots() {
        return roots.values();
    }

    int firstChild(int node) {
        return firstChild[node];
    }

    int nextSibling(int node) {
        return nextSibling[node];
    }

    /** The child of {@code node} whose page holds exactly the tokens from {@code offset} on, or {@link #NONE}. */
    int child(int node, int[] ids, int offset) {
        int wanted = hash(node, ids, offset);
        int at = bucket[wanted & (bucket.length - 1)];
        while (at != NONE && !(hash[at] == wanted && parent[at] == node && holds(at, ids, offset))) {
            at = nextInBucket[at];
        }
        return at;
    }

    /** Among the newest children of {@code node}, the one that shares most tokens with {@code ids} from {@code offset} on. */
    int closestChild(int node, int[] ids, int offset, int limit) {
        int closest = NONE;
        int longest = 0;
        int compared = 0;
        for (int at = firstChild[node]; at != NONE && compared < SIBLINGS_COMPARED; at = nextSibling[at]) {
            int common = commonTokens(at, ids, offset, limit);
            if (common > longest) {
                longest = common;
                closest = at;
            }
            compared++;
        }
        return closest;
    }

    /** How many tokens of {@code node}'s page, {@code limit} at most, equal those from {@code offset} on. */
    int commonTokens(int node, int[] ids, int offset, int limit) {
        int start = node * pageTokens;
        int end = Math.min(limit, pageTokens);
        int difference = Arrays.mismatch(tokens, start, start + end, ids, offset, offset + end);
        return difference < 0 ? end : difference;
    }

    int addRoot(PrefixScope of) {
        int node = use(NONE);
        scope[node] = of;
        roots.put(of, node);
        return node;
    }

    int addChild(int above, int[] ids, int offset) {
        int node = use(above);
        System.arraycopy(ids, offset, tokens, node * pageTokens, pageTokens);
        hash[node] = hash(above, ids, offset);
        int in = hash[node] & (bucket.length - 1);
        nextInBucket[node] = bucket[in];
        bucket[in] = node;
        nextSibling[node] = firstChild[above];
        if (firstChild[above] != NONE) {
            previousSibling[firstChild[above]] = node;
        }
        firstChild[above] = node;
        number[node] = ++lastNumber;
        PageEvents told = events;
        if (told != null) {
            told.stored(number[node], number[above], ids, offset, scope[above]);
        }
        return node;
    }

    /** Tells of pages that enter and leave from now on, on the engine's thread; any thread may ask for it. */
    void tell(PageEvents to) {
        events = to;
    }

    private int use(int above) {
        if (unused == NONE) {
            throw new IllegalStateException("all " + parent.length + " nodes of the prefix tree are in use");
        }
        int node = unused;
        unused = nextSibling[node];
        parent[node] = above;
        firstChild[node] = NONE;
        nextSibling[node] = NONE;
        previousSibling[node] = NONE;
        size++;
        return node;
    }

    /** Takes out a leaf that nobody uses and that has no pages left. */
    void remove(int node) {
        if (!isLeaf(node) || locks[node] != 0) {
            throw new IllegalStateException("node " + node + " leaves the tree but is in use: children " + !isLeaf(node)
                    + ", locks " + locks[node]);
        }
        if (isRoot(node)) {
            roots.remove(scope[node]);
            scope[node] = null;
        } else {
            unlinkSibling(node);
            unlinkBucket(node);
            PageEvents told = events;
            if (told != null) {
                told.removed(number[node]);
            }
            number[node] = 0;
        }
        parent[node] = NONE;
        nextSibling[node] = unused;
        unused = node;
        size--;
    }

    private void unlinkSibling(int node) {
        int next = nextSibling[node];
        int previous = previousSibling[node];
        if (next != NONE) {
            previousSibling[next] = previous;
        }
        if (previous != NONE) {
            nextSibling[previous] = next;
        } else {
            firstChild[parent[node]] = next;
        }
    }

    private void unlinkBucket(int node) {
        int in = hash[node] & (bucket.length - 1);
        if (bucket[in] == node) {
            bucket[in] = nextInBucket[node];
            return;
        }
        int at = bucket[in];
        while (nextInBucket[at] != node) {
            at = nextInBucket[at];
        }
        nextInBucket[at] = nextInBucket[node];
    }

    private boolean holds(int node, int[] ids, int offset) {
        int start = node * pageTokens;
        return Arrays.equals(tokens, start, start + pageTokens, ids, offset, offset + pageTokens);
    }

    private int hash(int above, int[] ids, int offset) {
        long mixed = hashSeed ^ above;
        for (int i = offset; i < offset + pageTokens; i++) {
            mixed = (mixed ^ ids[i]) * 0x9E3779B97F4A7C15L;
            mixed ^= mixed >>> 29;
        }
        return (int) (mixed ^ (mixed >>> 32));
    }
}
