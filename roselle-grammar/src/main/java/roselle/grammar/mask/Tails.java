package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import roselle.grammar.automaton.Lexeme;

/** What follows one end of a lexeme in tokens, joined: a trie of the bytes behind it, each node with the tokens that end there. */
record Tails(Lexeme end, Node root) {
    /** A node; octets and children belong together. */
    @SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
    record Node(int[] tokens, int[] octets, Node[] children) {}

    static Tails of(TokenTrie trie, Lexeme end, int[] nodes, int from, int to) {
        List<Integer> parents = new ArrayList<>();
        for (int i = from; i < to; i++) {
            parents.add(nodes[i]);
        }
        return new Tails(end, joined(trie, parents, false));
    }

    private static Node joined(TokenTrie trie, List<Integer> parents, boolean hasTokens) {
        List<Integer> tokens = new ArrayList<>();
        TreeMap<Integer, List<Integer>> children = new TreeMap<>();
        for (int parent : parents) {
            for (int token = hasTokens ? trie.token[parent] : -1; token >= 0; token = trie.nextSame[token]) {
                tokens.add(token);
            }
            for (int node = parent + 1; node < trie.end[parent]; node = trie.end[node]) {
                children.computeIfAbsent(trie.octet[node] & 0xFF, octet -> new ArrayList<>())
                        .add(node);
            }
        }
        Node[] below = new Node[children.size()];
        int[] octets = new int[below.length];
        int at = 0;
        for (var child : children.entrySet()) {
            octets[at] = child.getKey();
            below[at++] = joined(trie, child.getValue(), true);
        }
        return new Node(tokens.stream().mapToInt(Integer::intValue).toArray(), octets, below);
    }
}
