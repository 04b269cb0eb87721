package roselle.tokenizer;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import roselle.api.CheckpointException;

/** The spellings of added tokens as a tree of characters; finds the longest at a place. */
public final class TokenTrie {
    private static final int MAX_NODES = 1 << 21;

    private final Map<Long, Integer> children = new HashMap<>(); // node << 16 | character -> node
    private final Map<String, AddedToken> tokens = new HashMap<>();
    private boolean[] isEnd = new boolean[16];
    private final boolean[] begins = new boolean[1 << 16]; // by character
    private int nodes = 1;

    /** Without spellings. */
    public TokenTrie() {}

    public void insert(String spelling, AddedToken token) {
        insert(spelling);
        tokens.put(spelling, token);
    }

    /** Adds a spelling that is looked for only: {@link #token} does not know it. */
    public void insert(String spelling) {
        int node = 0;
        for (int i = 0; i < spelling.length(); i++) {
            node = children.computeIfAbsent(((long) node << 16) | spelling.charAt(i), key -> nodes++);
        }
        if (nodes > MAX_NODES) {
            throw new CheckpointException(
                    "the added tokens have more than " + MAX_NODES + " characters in all: the file is damaged");
        }
        if (nodes > isEnd.length) {
            isEnd = Arrays.copyOf(isEnd, nodes * 2);
        }
        isEnd[node] = true;
        begins[spelling.charAt(0)] = true;
    }

    public boolean isEmpty() {
        return tokens.isEmpty();
    }

    /** The first place from {@code from} on where a token could begin, or the text's length. */
    public int nextStart(String text, int from) {
        int at = from;
        while (at < text.length() && !begins[text.charAt(at)]) {
            at++;
        }
        return at;
    }

    /** The length of the longest token at {@code start}, or 0. */
    public int longest(String text, int start) {
        int node = 0;
        int length = 0;
        for (int i = start; i < text.length(); i++) {
            Integer child = children.get(((long) node << 16) | text.charAt(i));
            if (child == null) {
                break;
            }
            node = child;
            length = isEnd[node] ? i + 1 - start : length;
        }
        return length;
    }

    /** The token spelled {@code text[start, end)}, which {@link #longest} found. */
    public AddedToken token(String text, int start, int end) {
        AddedToken token = tokens.get(text.substring(start, end));
        if (token == null) {
            throw new IllegalStateException("no token is spelled like the match");
        }
        return token;
    }
}
