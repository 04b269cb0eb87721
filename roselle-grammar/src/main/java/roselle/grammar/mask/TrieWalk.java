package roselle.grammar.mask;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;

/** Walks of the vocabulary's trie along lexemes and states. Not thread-safe. */
final class TrieWalk {
    private final TokenTrie trie;
    private final int words;

    TrieWalk(Vocabulary vocabulary) {
        this.trie = vocabulary.trie();
        this.words = vocabulary.words();
    }

    /** All tokens that stay inside a lexeme. */
    LexemeMask inside(Lexeme lexeme) {
        long[] bits = new long[words];
        Ends ends = new Ends();
        if (lexeme.mayEnd()) {
            ends.add(lexeme, 0);
        }
        Lexeme[] path = new Lexeme[trie.maxDepth + 1];
        path[0] = lexeme;
        int node = 1;
        while (node < trie.nodes) {
            int depth = trie.depth[node];
            Lexeme next = path[depth - 1].next(trie.octet[node] & 0xFF);
            if (next == null) {
                node = trie.end[node];
                continue;
            }
            allow(node, bits);
            if (next.mayEnd() && trie.hasChildren(node)) {
                ends.add(next, node);
            }
            path[depth] = next;
            node++;
        }
        return ends.with(bits);
    }

    /** A lexeme's tokens without those that complete a text of another. */
    LexemeMask without(LexemeMask all, Lexeme excluded) {
        long[] bits = all.inside.clone();
        boolean[] isGone = null;
        Lexeme[] path = new Lexeme[trie.maxDepth + 1];
        path[0] = excluded;
        int node = 1;
        while (node < trie.nodes) {
            int depth = trie.depth[node];
            Lexeme next = path[depth - 1].next(trie.octet[node] & 0xFF);
            if (next == null) {
                node = trie.end[node];
                continue;
            }
            if (next.mayEnd()) { // this text is excluded: no token may complete it
                forbid(node, bits);
                if (trie.hasChildren(node)) {
                    isGone = isGone == null ? new boolean[all.ends.length] : isGone;
                    markGone(all, node, isGone);
                }
            }
            path[depth] = next;
            node++;
        }
        if (excluded.mayEnd()) {
            isGone = isGone == null ? new boolean[all.ends.length] : isGone;
            markGone(all, 0, isGone);
        }
        return isGone == null ? new LexemeMask(bits, all.ends, all.endNodes) : kept(all, bits, isGone);
    }

    private static void markGone(LexemeMask all, int node, boolean[] isGone) {
        for (int i = 0; i < isGone.length; i++) {
            isGone[i] |= all.endNodes[i] == node;
        }
    }

    private static LexemeMask kept(LexemeMask all, long[] bits, boolean[] isGone) {
        Ends ends = new Ends();
        for (int i = 0; i < isGone.length; i++) {
            if (!isGone[i]) {
                ends.add(all.ends[i], all.endNodes[i]);
            }
        }
        return ends.with(bits);
    }

    /** Adds the tokens that go on behind the ends of a lexeme. */
    @SuppressWarnings("ReferenceEquality") // interned
    void ends(State state, int branch, LexemeMask lexeme, long[] bits) {
        List<Tails> tails = lexeme.tails(trie);
        if (tails != null) {
            for (Tails tail : tails) {
                State behind = state.leave(branch, tail.end());
                if (behind != null) {
                    tail(behind, tail.root(), bits);
                }
            }
            return;
        }
        Lexeme[] ends = lexeme.ends;
        Lexeme last = null;
        FirstSteps steps = null;
        for (int i = 0; i < ends.length; i++) {
            if (ends[i] != last) {
                last = ends[i];
                State behind = state.leave(branch, last);
                steps = behind == null ? null : new FirstSteps(behind);
            }
            if (steps != null) {
                behind(steps, lexeme.endNodes[i], bits);
            }
        }
    }

    private static void tail(State state, Tails.Node node, long[] bits) {
        for (int i = 0; i < node.octets().length; i++) {
            State next = state.advance(node.octets()[i]);
            if (next != null) {
                Tails.Node child = node.children()[i];
                for (int token : child.tokens()) {
                    bits[token >>> 6] |= 1L << token;
                }
                tail(next, child, bits);
            }
        }
    }

    /** A lexeme's tokens with bounds on their number of symbols. */
    LexemeMask bounded(LexemeMask all, long min, long max) {
        SymbolCounts counts = Objects.requireNonNull(all.counts, "counted where it is shared");
        if (min == 0 && max >= counts.atMost().length) {
            return all;
        }
        Ends ends = new Ends();
        for (int i = 0; i < all.ends.length; i++) {
            if (counts.ofEnds()[i] >= min && counts.ofEnds()[i] <= max) {
                ends.add(all.ends[i], all.endNodes[i]);
            }
        }
        // Tokens that end right behind the lexeme are inside it, and bound by both.
        long[] bits = counts.atMost(max).clone();
        for (int token : counts.complete()) {
            int symbols = counts.ofComplete(token);
            if (symbols < min) {
                bits[token >>> 6] &= ~(1L << token);
            }
        }
        return ends.with(bits);
    }

    /** Makes now what others would make lazily, for a mask that several threads will read. */
    void prepare(LexemeMask all, Lexeme lexeme) {
        if (lexeme.isBetweenSymbols()) {
            all.counts = count(all, lexeme);
        }
        all.tails(trie);
        all.tails(trie);
    }

    private SymbolCounts count(LexemeMask all, Lexeme unbounded) {
        int[] ofTokens = new int[words << 6];
        boolean[] isComplete = new boolean[words << 6];
        Arrays.fill(ofTokens, -1);
        int[] ofEnds = new int[all.ends.length];
        int end = unbounded.mayEnd() ? 1 : 0;
        Lexeme[] path = new Lexeme[trie.maxDepth + 1];
        int[] symbols = new int[trie.maxDepth + 1];
        path[0] = unbounded;
        int node = 1;
        while (node < trie.nodes) {
            int depth = trie.depth[node];
            Lexeme next = path[depth - 1].next(trie.octet[node] & 0xFF);
            if (next == null) {
                node = trie.end[node];
                continue;
            }
            int done = symbols[depth - 1] + (next.isBetweenSymbols() ? 1 : 0);
            int needed = next.isBetweenSymbols() || next.mayEnd() ? done : done + 1;
            for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
                ofTokens[token] = needed;
                isComplete[token] = next.mayEnd();
            }
            if (next.mayEnd() && trie.hasChildren(node)) {
                ofEnds[end++] = done;
            }
            path[depth] = next;
            symbols[depth] = done;
            node++;
        }
        return SymbolCounts.of(ofTokens, isComplete, ofEnds, words);
    }

    private void behind(FirstSteps steps, int parent, long[] bits) {
        for (int node = parent + 1; node < trie.end[parent]; node = trie.end[node]) {
            State next = steps.step(trie.octet[node] & 0xFF);
            if (next != null) {
                allow(node, bits);
                behind(next, node, bits);
            }
        }
    }

    /** Adds the tokens below a node whose bytes from there on a state allows. */
    void behind(State state, int parent, long[] bits) {
        if (!trie.hasChildren(parent)) {
            return;
        }
        int branches = state.branches();
        for (int branch = 0; branch < branches; branch++) {
            inside(state, branch, state.lexeme(branch), parent, bits);
        }
        if (branches == 0) {
            for (int node = parent + 1; node < trie.end[parent]; node = trie.end[node]) {
                State next = state.advance(trie.octet[node] & 0xFF);
                if (next != null) {
                    allow(node, bits);
                    behind(next, node, bits);
                }
            }
        }
    }

    private void inside(State state, int branch, Lexeme lexeme, int parent, long[] bits) {
        int base = trie.depth[parent];
        Lexeme[] path = new Lexeme[trie.maxDepth + 1 - base];
        path[0] = lexeme;
        if (lexeme.mayEnd()) {
            leave(state, branch, lexeme, parent, bits);
        }
        int node = parent + 1;
        while (node < trie.end[parent]) {
            int depth = trie.depth[node] - base;
            Lexeme next = path[depth - 1].next(trie.octet[node] & 0xFF);
            if (next == null) {
                node = trie.end[node];
                continue;
            }
            allow(node, bits);
            if (next.mayEnd() && trie.hasChildren(node)) {
                leave(state, branch, next, node, bits);
            }
            path[depth] = next;
            node++;
        }
    }

    private void leave(State state, int branch, Lexeme end, int node, long[] bits) {
        State behind = state.leave(branch, end);
        if (behind != null) {
            behind(behind, node, bits);
        }
    }

    private void allow(int node, long[] bits) {
        for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
            bits[token >>> 6] |= 1L << token;
        }
    }

    private void forbid(int node, long[] bits) {
        for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
            bits[token >>> 6] &= ~(1L << token);
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

    /** A growing list of ends. */
    private static final class Ends {
        private Lexeme[] lexemes = new Lexeme[16];
        private int[] nodes = new int[16];
        private int size;

        void add(Lexeme lexeme, int node) {
            if (size == nodes.length) {
                lexemes = Arrays.copyOf(lexemes, 2 * size);
                nodes = Arrays.copyOf(nodes, 2 * size);
            }
            lexemes[size] = lexeme;
            nodes[size++] = node;
        }

        LexemeMask with(long[] bits) {
            return new LexemeMask(bits, Arrays.copyOf(lexemes, size), Arrays.copyOf(nodes, size));
        }
    }
}
