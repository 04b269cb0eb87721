package roselle.grammar.mask;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;

/** Walks of the vocabulary's trie along lexemes and states. Not thread-safe. */
final class TrieWalk {
    private static final int SEPARATOR = ',';
    private static final int MIN_SCANNED = 16; // nodes below one
    private static final int MIN_REMEMBERED = 64; // nodes, from which on a walk below one is kept

    private final Vocabulary vocabulary;
    private final TokenTrie trie;
    private final SetBuilder tokens; // of the state's mask
    private final SetBuilder inner; // of a lexeme's
    private final LexemeMasks lexemes;
    private final @Nullable Lexeme[] path; // of a scan, by depth
    private final IntList farTokens = new IntList(); // of the state's mask, each perhaps twice
    private int separators; // behind the lexeme that the walk began in

    TrieWalk(Vocabulary vocabulary) {
        this.lexemes = new LexemeMasks(vocabulary, this);
        this.vocabulary = vocabulary;
        this.trie = vocabulary.trie();
        this.tokens = new SetBuilder(vocabulary.words());
        this.inner = new SetBuilder(vocabulary.words());
        this.path = new Lexeme[trie.maxDepth + 1];
    }

    /** What is known of lexemes. */
    LexemeMasks lexemes() {
        return lexemes;
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
    }

    /** The mask's tokens that go on behind a comma which follows the lexeme that they begin in. */
    int[] farTokens() {
        return farTokens.toArray();
    }

    // ---- lexemes ----

    /** All tokens below a node whose bytes from there on stay inside a lexeme. */
    LexemeMask inside(Lexeme lexeme, int node) {
        inner.clear(); // a walk that was given up may have left some
        Ends.Builder ends = new Ends.Builder();
        if (lexeme.mayEnd() && trie.hasChildren(node)) {
            ends.add(lexeme, node);
        }
        collect(lexeme, node, ends);
        return new LexemeMask(inner.finish(), ends.build());
    }

    private void collect(Lexeme lexeme, int parent, Ends.Builder ends) {
        byte[] only = lexeme.only();
        if (only != null) {
            collect(lexeme, only, parent, ends);
            return;
        }
        int[] few = lexeme.octets();
        if (few == null && trie.end[parent] - parent > MIN_SCANNED) {
            scan(lexeme, parent, ends);
            return;
        }
        if (few != null && few.length < trie.children(parent)) {
            for (int octet : few) {
                int node = trie.child(parent, octet);
                if (node >= 0) {
                    enter(lexeme.next(octet), node, ends);
                }
            }
            return;
        }
        for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
            enter(lexeme.next(trie.childOctet[i] & 0xFF), trie.child[i], ends);
        }
    }

    /** The same where most octets may come: node by node in their order, as they lie in memory. */
    @SuppressWarnings("ReferenceEquality") // interned
    private void scan(Lexeme lexeme, int parent, Ends.Builder ends) {
        path[trie.depth[parent]] = lexeme;
        int node = parent + 1;
        int last = trie.end[parent];
        while (node < last) {
            int depth = trie.depth[node];
            int end = trie.end[node];
            Lexeme next = Objects.requireNonNull(path[depth - 1]).next(trie.octet[node] & 0xFF);
            if (next == null) {
                node = end;
                continue;
            }
            for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
                inner.add(token);
            }
            boolean isFew = end - node > MIN_SCANNED && (next.only() != null || next.octets() != null);
            if (end > node + 1 && next.mayEnd()) {
                ends.add(next, node);
            }
            if (isFew) {
                collect(next, node, ends);
                node = end;
            } else {
                if (path[depth] != next) { // most stay as they are, and writing costs more
                    path[depth] = next;
                }
                node++;
            }
        }
    }

    /** The same where there is one way. */
    private void collect(Lexeme lexeme, byte[] only, int parent, Ends.Builder ends) {
        int node = parent;
        for (byte octet : only) {
            node = trie.child(node, octet & 0xFF);
            if (node < 0) {
                return;
            }
            for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
                inner.add(token);
            }
        }
        if (only.length > 0 && trie.hasChildren(node)) {
            ends.add(lexeme.onlyEnd(), node);
        }
    }

    private void enter(@Nullable Lexeme lexeme, int node, Ends.Builder ends) {
        if (lexeme == null) {
            return;
        }
        for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
            inner.add(token);
        }
        if (trie.hasChildren(node)) {
            if (lexeme.mayEnd()) {
                ends.add(lexeme, node);
            }
            collect(lexeme, node, ends);
        }
    }

    /** The same from the root, for a lexeme that goes on alike with the symbols of a slice; null where they end in between. */
    @Nullable
    LexemeMask along(Lexeme lexeme, Slice slice) {
        Lexeme[] behind = new Lexeme[slice.maxSymbols() + 1]; // so many symbols of the slice
        behind[0] = lexeme;
        int last = 0;
        boolean isLoop = false;
        while (last < slice.maxSymbols() && !isLoop) {
            if (!behind[last].isAlike(slice.classes())) {
                return null;
            }
            Lexeme next = behind[last].behind(slice.classes());
            if (next == null) {
                break;
            }
            if (next.mayEnd()) {
                return null; // it ends within the slice's tokens
            }
            isLoop = next.equals(behind[last]);
            behind[++last] = next;
        }
        inner.clear();
        inner.addAll(TokenSet.of(slice.atMost(isLoop ? slice.maxSymbols() : last)));
        Ends.Builder ends = new Ends.Builder();
        if (lexeme.mayEnd()) {
            ends.add(lexeme, 0);
        }
        for (Slice.Edge edge : slice.edges()) {
            if (edge.symbols() > last && !isLoop) {
                continue;
            }
            Lexeme next = behind[Math.min(edge.symbols(), last)].next(edge.octet());
            if (next != null) {
                for (int node : edge.nodes()) {
                    enter(next, node, ends);
                }
            }
        }
        return new LexemeMask(inner.finish(), ends.build());
    }

    /** A wider lexeme's tokens below a node without those that complete a text that another leaves out. */
    LexemeMask without(LexemeMask all, Lexeme lexeme, int root) {
        inner.clear();
        inner.addAll(all.inside);
        IntList gone = new IntList();
        for (byte[] text : lexeme.excludedTexts()) {
            int node = descend(root, text);
            if (node >= 0) {
                remove(node, gone);
            }
        }
        Lexeme excluded = lexeme.excluded();
        if (excluded != null) {
            if (excluded.mayEnd()) {
                gone.add(root);
            }
            int closing = excluded.closing();
            exclude(excluded, root, closing < 0 ? null : trie.hasBelow(closing), gone);
        }
        TokenSet inside = inner.finish();
        if (gone.size() == 0) {
            return new LexemeMask(inside, all.ends);
        }
        int[] nodes = gone.toArray();
        Arrays.sort(nodes);
        Ends.Builder kept = new Ends.Builder();
        for (int i = 0; i < all.ends.size(); i++) {
            if (Arrays.binarySearch(nodes, all.ends.nodes[i]) < 0) {
                kept.add(all.ends.lexemes[i], all.ends.nodes[i]);
            }
        }
        return new LexemeMask(inside, kept.build());
    }

    private void exclude(Lexeme excluded, int parent, boolean @Nullable [] mayClose, IntList gone) {
        int[] few = excluded.octets();
        if (few != null && few.length < trie.children(parent)) {
            for (int octet : few) {
                int node = trie.child(parent, octet);
                if (node >= 0 && (mayClose == null || mayClose[node])) {
                    excludeAt(excluded.next(octet), node, mayClose, gone);
                }
            }
            return;
        }
        for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
            if (mayClose == null || mayClose[trie.child[i]]) {
                excludeAt(excluded.next(trie.childOctet[i] & 0xFF), trie.child[i], mayClose, gone);
            }
        }
    }

    /** The node behind some bytes, or -1. */
    private int descend(int from, byte[] bytes) {
        int node = from;
        for (int i = 0; i < bytes.length && node >= 0; i++) {
            node = trie.child(node, bytes[i] & 0xFF);
        }
        return node;
    }

    private void remove(int node, IntList gone) {
        for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
            inner.remove(token);
        }
        if (trie.hasChildren(node)) {
            gone.add(node);
        }
    }

    private void excludeAt(@Nullable Lexeme excluded, int node, boolean @Nullable [] mayClose, IntList gone) {
        if (excluded == null) {
            return;
        }
        if (excluded.mayEnd()) { // this text is excluded: no token may complete it
            remove(node, gone);
        }
        exclude(excluded, node, mayClose, gone);
    }

    /** The tokens of a lexeme that resembles another, whose tokens below the node are known. */
    LexemeMask differing(LexemeMask other, Lexeme lexeme, Lexeme resembled, int root) {
        inner.clear();
        inner.addAll(other.inside);
        IntList gone = new IntList();
        Ends.Builder further = new Ends.Builder();
        differ(lexeme, resembled, root, gone, further);
        int[] nodes = gone.toArray();
        Arrays.sort(nodes);
        Ends.Builder ends = new Ends.Builder();
        if (lexeme.mayEnd() && trie.hasChildren(root)) {
            ends.add(lexeme, root);
        }
        for (int i = 0; i < other.ends.size(); i++) {
            if (other.ends.nodes[i] != root && Arrays.binarySearch(nodes, other.ends.nodes[i]) < 0) {
                ends.add(other.ends.lexemes[i], other.ends.nodes[i]);
            }
        }
        ends.addAll(further);
        return new LexemeMask(inner.finish(), ends.build());
    }

    @SuppressWarnings("ReferenceEquality") // interned
    private void differ(Lexeme one, Lexeme other, int parent, IntList gone, Ends.Builder further) {
        for (int i = trie.firstChild[parent]; i < trie.firstChild[parent + 1]; i++) {
            int node = trie.child[i];
            Lexeme mine = one.next(trie.childOctet[i] & 0xFF);
            Lexeme its = other.next(trie.childOctet[i] & 0xFF);
            if (mine == its) {
                continue;
            }
            if (mine == null) {
                for (int below = node; below < trie.end[node]; below++) {
                    remove(below, gone);
                }
            } else if (its == null) {
                enter(mine, node, further);
            } else {
                if (its.mayEnd()) {
                    gone.add(node);
                }
                if (mine.mayEnd() && trie.hasChildren(node)) {
                    further.add(mine, node);
                }
                differ(mine, its, node, gone, further);
            }
        }
    }

    /** A lexeme's tokens with bounds on their number of symbols. */
    LexemeMask bounded(LexemeMask all, long min, long max) {
        SymbolCounts counts = Objects.requireNonNull(all.counts, "counted where it is shared");
        if (min == 0 && max >= counts.atMost().length) {
            return all;
        }
        Ends ends = all.ends;
        if (min > 0 || max < counts.mostOfEnds()) {
            Ends.Builder kept = new Ends.Builder();
            for (int i = 0; i < ends.size(); i++) {
                if (counts.ofEnds()[i] >= min && counts.ofEnds()[i] <= max) {
                    kept.add(ends.lexemes[i], ends.nodes[i]);
                }
            }
            ends = kept.build();
        }
        // Tokens that end right behind the lexeme are inside it, and bound by both.
        inner.clear();
        inner.addAll(TokenSet.of(counts.atMost(max)));
        if (min > 0) {
            for (int token : counts.complete()) {
                if (counts.ofComplete(token) < min) {
                    inner.remove(token);
                }
            }
        }
        return new LexemeMask(inner.finish(), ends);
    }

    /** Makes now what others would make lazily, for a mask that several threads will read. */
    void prepare(LexemeMask all, Lexeme lexeme) {
        if (lexeme.isBetweenSymbols()) {
            all.counts = count(all, lexeme);
        }
        all.ends.tails(trie);
        all.ends.tails(trie);
    }

    private SymbolCounts count(LexemeMask all, Lexeme unbounded) {
        int size = vocabulary.words() << 6;
        int[] ofTokens = new int[size];
        boolean[] isComplete = new boolean[size];
        Arrays.fill(ofTokens, -1);
        int[] ofEnds = new int[all.ends.size()];
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
        return SymbolCounts.of(ofTokens, isComplete, ofEnds, vocabulary.words());
    }

    // ---- states ----

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
        return trie.end[parent] - parent < MIN_REMEMBERED ? inside(lexeme, parent) : lexemes.mask(lexeme, parent);
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
