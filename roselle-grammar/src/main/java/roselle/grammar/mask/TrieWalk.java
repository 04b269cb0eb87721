package roselle.grammar.mask;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;

/** Walks of the vocabulary's trie along states. Not thread-safe. */
final class TrieWalk {
    private static final int SEPARATOR = ',';
    private static final int MIN_REMEMBERED = 64; // nodes, from which on a walk below one is kept

    private final TokenTrie trie;
    private final SetBuilder tokens; // of the state's mask
    private final LexemeWalk inside;
    private final IntList farTokens = new IntList(); // of the state's mask, each perhaps twice
    private int separators; // behind the lexeme that the walk began in

    TrieWalk(Vocabulary vocabulary) {
        this.inside = new LexemeWalk(vocabulary);
        this.trie = vocabulary.trie();
        this.tokens = new SetBuilder(vocabulary.words());
    }

    /** What is known of lexemes. */
    LexemeMasks lexemes() {
        return inside.lexemes();
    }

    /** The mask's tokens so far. */
    SetBuilder tokens() {
        return tokens;
    }

    /** Begins a mask. */
    void clear() {
        tokens.clear();
        farTokens.clear();
        separators = 0;
        inside.clear();
    }

    /** The mask's tokens that go on behind a comma which follows the lexeme that they begin in. */
    int[] farTokens() {
        return farTokens.toArray();
    }

    /** Adds the tokens that go on behind the ends of a lexeme. */
    @SuppressWarnings("ReferenceEquality") // interned
    void ends(State state, int branch, Ends ends) {
        List<Tails> tails = ends.tails(trie);
        if (tails != null) {
            for (Tails tail : tails) {
                State behind = state.leave(branch, tail.end());
                if (behind != null) {
                    tail(behind, tail.root());
                }
            }
            return;
        }
        Lexeme last = null;
        FirstSteps steps = null;
        for (int i = 0; i < ends.size(); i++) {
            if (ends.lexemes[i] != last) {
                last = ends.lexemes[i];
                State behind = state.leave(branch, last);
                steps = behind == null ? null : new FirstSteps(behind);
            }
            if (steps != null) {
                behind(steps, ends.nodes[i]);
            }
        }
    }

    private void tail(State state, Tails.Node node) {
        for (int i = 0; i < node.octets().length; i++) {
            State next = state.advance(node.octets()[i]);
            if (next != null) {
                Tails.Node child = node.children()[i];
                int before = separators;
                separators += node.octets()[i] == SEPARATOR ? 1 : 0;
                for (int token : child.tokens()) {
                    allowOne(token);
                }
                tail(next, child);
                separators = before;
            }
        }
    }

    private void behind(FirstSteps steps, int parent) {
        for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
            enter(steps.step(trie.childOctet[i] & 0xFF), trie.child[i]);
        }
    }

    /** Adds the tokens below a node whose bytes from there on a state allows. */
    void behind(State state, int parent) {
        if (!trie.hasChildren(parent)) {
            return;
        }
        int branches = state.branches();
        for (int branch = 0; branch < branches; branch++) {
            LexemeMask found = below(state.lexeme(branch), parent);
            tokens.addAll(found.inside);
            if (separators > 0) {
                found.inside.forEach(farTokens::add);
            }
            ends(state, branch, found.ends);
        }
        if (branches > 0) {
            return;
        }
        int[] few = state.octets();
        if (few != null && few.length < trie.children(parent)) {
            for (int octet : few) {
                int node = trie.child(parent, octet);
                if (node >= 0) {
                    step(state, octet, node);
                }
            }
            return;
        }
        for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
            step(state, trie.childOctet[i] & 0xFF, trie.child[i]);
        }
    }

    private void step(State state, int octet, int node) {
        enter(state.advance(octet), node);
    }

    private void enter(@Nullable State state, int node) {
        if (state != null) {
            int before = separators;
            separators += trie.octet[node] == SEPARATOR ? 1 : 0;
            allow(node);
            behind(state, node);
            separators = before;
        }
    }

    private LexemeMask below(Lexeme lexeme, int parent) {
        return trie.end[parent] - parent < MIN_REMEMBERED
                ? inside.inside(lexeme, parent)
                : lexemes().mask(lexeme, parent);
    }

    private void allow(int node) {
        for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
            allowOne(token);
        }
    }

    private void allowOne(int token) {
        tokens.add(token);
        if (separators > 0) {
            farTokens.add(token);
        }
    }

    /** The steps by one byte from a state that many nodes of the trie ask for. */
    private static final class FirstSteps {
        private static final Object NOT_ASKED = new Object();

        private final State from;
        private final @Nullable Object[] known = new Object[256];

        FirstSteps(State from) {
            this.from = from;
            Arrays.fill(known, NOT_ASKED);
        }

        @SuppressWarnings("ReferenceEquality") // a mark
        @Nullable
        State step(int octet) {
            if (known[octet] == NOT_ASKED) {
                known[octet] = from.advance(octet);
            }
            return (State) known[octet];
        }
    }
}
