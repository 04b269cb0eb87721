package roselle.grammar.mask;

import roselle.grammar.automaton.Lexeme;

/** What follows one end of a lexeme in tokens, joined: a trie of the bytes behind it, each node with the tokens that end there. */
record Tails(Lexeme end, Node root) {
    /** A node with so many below it; octets and children belong together. */
    @SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
    record Node(int[] tokens, int[] octets, Node[] children, int size) {}

    static Tails of(TokenTrie trie, Lexeme end, int[] nodes, int from, int to) {
        return new Tails(end, joined(trie, nodes, from, to, false));
    }

    /** What is below some nodes of the trie, joined by the bytes that lead there. */
    private static Node joined(TokenTrie trie, int[] parents, int from, int to, boolean hasTokens) {
        if (to == from + 1) {
            return single(trie, parents[from], hasTokens);
        }
        IntList tokens = new IntList();
        int[] counts = new int[257]; // of children by octet, then where each octet's begin
        for (int i = from; i < to; i++) {
            for (int token = hasTokens ? trie.token[parents[i]] : -1; token >= 0; token = trie.nextSame[token]) {
                tokens.add(token);
            }
            for (int at = trie.firstChild[parents[i]]; at < trie.firstChild[parents[i] + 1]; at++) {
                counts[(trie.childOctet[at] & 0xFF) + 1]++;
            }
        }
        int kinds = 0;
        for (int octet = 0; octet < 256; octet++) {
            kinds += counts[octet + 1] > 0 ? 1 : 0;
            counts[octet + 1] += counts[octet];
        }
        int[] sorted = new int[counts[256]];
        int[] next = counts.clone();
        for (int i = from; i < to; i++) {
            for (int at = trie.firstChild[parents[i]]; at < trie.firstChild[parents[i] + 1]; at++) {
                sorted[next[trie.childOctet[at] & 0xFF]++] = trie.child[at];
            }
        }
        int[] octets = new int[kinds];
        Node[] below = new Node[kinds];
        int size = 0;
        for (int octet = 0, at = 0; octet < 256; octet++) {
            if (counts[octet + 1] > counts[octet]) {
                octets[at] = octet;
                below[at] = joined(trie, sorted, counts[octet], counts[octet + 1], true);
                size += 1 + below[at++].size;
            }
        }
        return new Node(tokens.toArray(), octets, below, size);
    }

    /** The same of one node, whose children differ by their bytes. */
    private static Node single(TokenTrie trie, int parent, boolean hasTokens) {
        int count = 0;
        for (int token = hasTokens ? trie.token[parent] : -1; token >= 0; token = trie.nextSame[token]) {
            count++;
        }
        int[] tokens = new int[count];
        for (int token = hasTokens ? trie.token[parent] : -1; token >= 0; token = trie.nextSame[token]) {
            tokens[tokens.length - count--] = token;
        }
        int first = trie.firstChild[parent];
        int[] octets = new int[trie.children(parent)];
        Node[] below = new Node[octets.length];
        for (int i = 0; i < octets.length; i++) {
            octets[i] = trie.childOctet[first + i] & 0xFF;
            below[i] = single(trie, trie.child[first + i], true);
        }
        return new Node(tokens, octets, below, trie.end[parent] - parent - 1);
    }
}
