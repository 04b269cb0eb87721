package roselle.grammar.mask;

import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/** Where a lexeme stands at nodes of the trie: what the way to one shares with the way to the last one is not taken again. */
final class LexemePath {
    private final TokenTrie trie;
    private final int[] parent;
    private final @Nullable Lexeme[] path; // by depth
    private int root;
    private int last; // down to which the path is known

    LexemePath(Vocabulary vocabulary) {
        this.trie = vocabulary.trie();
        this.parent = vocabulary.symbols().parent;
        this.path = new Lexeme[trie.maxDepth + 1];
    }

    /** Begins at a node. */
    void begin(Lexeme lexeme, int node) {
        path[trie.depth[node]] = lexeme;
        root = node;
        last = node;
    }

    /** The lexeme at a node below that one; null where it does not go on so. Cheapest in the order of the nodes. */
    @Nullable
    Lexeme at(int node) {
        int known = node;
        while (known > last || last >= trie.end[known]) {
            known = parent[known];
        }
        last = node;
        return follow(Math.max(root, known), node);
    }

    private @Nullable Lexeme follow(int known, int node) {
        if (node == known) {
            return path[trie.depth[node]];
        }
        Lexeme above = follow(known, parent[node]);
        Lexeme here = above == null ? null : above.next(trie.octet[node] & 0xFF);
        path[trie.depth[node]] = here;
        return here;
    }
}
