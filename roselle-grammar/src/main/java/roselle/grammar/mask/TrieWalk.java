package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;

/** Walks of the vocabulary's trie along states. Not thread-safe. */
final class TrieWalk {
    private static final int SEPARATOR = ',';
    private static final int MIN_REMEMBERED = 64; // nodes, from which on a walk below one is kept
    private static final int MIN_DETACHED =
            8; // nodes, from which on a walk within a value is kept for all places of the value

    private final TokenTrie trie;
    private final LexemeWalk inside;
    private final Found ofMask;
    private final Found ofPart;
    private Found found; // one of these two
    private int separators; // behind the lexeme that the walk began in
    private final IdentityTable<Map<Object, Part>> parts = new IdentityTable<>(); // by detached state and place
    private long partBytes;

    /** What a walk finds: tokens, those that reach far, each perhaps twice, and ends of the value that it is within. */
    private static final class Found {
        SetBuilder tokens = SetBuilder.NONE; // lent for one mask
        final IntList far = new IntList();
        final List<Exit> exits = new ArrayList<>();
        boolean asksFar = true; // parts may be asked later

        void clear() {
            tokens.clear();
            far.clear();
            exits.clear();
        }
    }

    /** An end of a value at a place: a node of the trie, or of joined tails. */
    private record Exit(Object place, int which, int separators) {}

    /** What a walk within a value found, whatever stands around it. */
    @SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
    private record Part(TokenSet inside, int[] far, List<Exit> exits) {}

    TrieWalk(Vocabulary vocabulary) {
        this.inside = new LexemeWalk(vocabulary);
        this.trie = vocabulary.trie();
        this.ofMask = new Found();
        this.ofPart = new Found();
        this.found = ofMask;
    }

    /** What is known of lexemes. */
    LexemeMasks lexemes() {
        return inside.lexemes();
    }

    /** The mask's tokens so far. */
    SetBuilder tokens() {
        return ofMask.tokens;
    }

    /** Takes what a mask needs. */
    void take(Builders builders) {
        ofMask.tokens = builders.next();
        ofPart.tokens = builders.next();
        inside.take(builders);
    }

    /** Begins a mask; tells {@link #farTokens} of it where they are asked for. */
    void clear(boolean asksFar) {
        found = ofMask;
        found.clear();
        found.asksFar = asksFar;
        separators = 0;
        inside.clear();
    }

    /** Bytes that what is known of values takes. */
    long bytes() {
        return lexemes().bytes() + partBytes;
    }

    void forget() {
        lexemes().forget();
        parts.clear();
        partBytes = 0;
    }

    /** The mask's tokens that go on behind a comma which follows the lexeme that they begin in. */
    int[] farTokens() {
        return ofMask.far.toArray();
    }

    // ---- values, wherever they stand ----

    /** Adds what lies below a place by what is known of the value that a state stands before; false where that is not to be had. */
    private boolean byPart(State state, Object place) {
        State detached = found == ofPart ? null : state.detached();
        if (detached == null) {
            return false;
        }
        Map<Object, Part> byPlace = parts.find(detached);
        if (byPlace == null) {
            byPlace = new HashMap<>(4);
            parts.add(detached, byPlace);
        }
        Part part = byPlace.get(place);
        if (part == null) {
            part = walkedPart(detached, place);
            byPlace.put(place, part);
            partBytes += 200
                    + 4L * (part.inside.added().length + part.inside.removed().length + part.far.length)
                    + 40L * part.exits.size();
        }
        take(part, state);
        return true;
    }

    private Part walkedPart(State detached, Object place) {
        int before = separators;
        found = ofPart;
        found.clear();
        separators = 0;
        walk(detached, place);
        Part made = new Part(found.tokens.finish(), found.far.toArray(), List.copyOf(found.exits));
        found = ofMask;
        separators = before;
        return made;
    }

    private void take(Part part, State state) {
        found.tokens.addAll(part.inside);
        if (isFar()) {
            part.inside.forEach(found.far::add);
        } else if (found.asksFar) {
            for (int token : part.far) {
                found.far.add(token);
            }
        }
        for (Exit exit : part.exits) {
            State behind = state.behind(exit.which);
            if (behind != null) {
                int before = separators;
                separators += exit.separators;
                walk(behind, exit.place);
                separators = before;
            }
        }
    }

    /** Whether what is added now reaches far, and somebody asks for it. */
    private boolean isFar() {
        return separators > 0 && found.asksFar;
    }

    private void walk(State state, Object place) {
        if (place instanceof Tails.Node node) {
            tail(state, node);
        } else {
            behind(state, (Integer) place);
        }
    }

    /** Notes that a value has ended at a place, if it has. */
    private boolean isExit(State state, Object place) {
        if (found != ofPart || state.exit() < 0) {
            return false;
        }
        found.exits.add(new Exit(place, state.exit(), separators));
        return true;
    }

    // ---- walks ----

    /** Adds the tokens that go on behind the ends of a lexeme. */
    @SuppressWarnings("ReferenceEquality") // interned
    private void ends(State state, int branch, Ends ends) {
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
            if (steps != null && !isExit(steps.from, ends.nodes[i])) {
                behind(steps, ends.nodes[i]);
            }
        }
    }

    private void tail(State state, Tails.Node node) {
        if (isExit(state, node) || (node.size() >= MIN_DETACHED && byPart(state, node))) {
            return;
        }
        if (found == ofPart) {
            noteEnds(state, node);
        }
        Tails.Below below = node.below();
        for (int i = 0; i < below.octets().length; i++) {
            int octet = below.octets()[i];
            State next = state.advance(octet);
            if (next != null) {
                Tails.Node child = below.child(i);
                int before = separators;
                separators += octet == SEPARATOR ? 1 : 0;
                for (int which = 0; which < child.count(); which++) {
                    allow(child.node(which));
                }
                tail(next, child);
                separators = before;
            }
        }
    }

    /** Notes where a value has ended that goes on, too: numbers end with what comes behind them. */
    private void noteEnds(State state, Tails.Node node) {
        for (int branch = 0; branch < state.branches(); branch++) {
            Lexeme lexeme = state.lexeme(branch);
            State behind = lexeme.mayEnd() ? state.leave(branch, lexeme) : null;
            if (behind != null) {
                isExit(behind, node);
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
        if (!trie.hasChildren(parent)
                || isExit(state, parent)
                || (trie.end[parent] - parent >= MIN_DETACHED && byPart(state, parent))) {
            return;
        }
        if (branches(state, parent)) {
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

    /** Adds what the branches of a state allow below a node; false where it has none. */
    boolean branches(State state, int parent) {
        int branches = state.branches();
        Lexeme joint = state.joint();
        int alone = joint == null ? branches : branches - state.together();
        for (int branch = 0; branch < alone; branch++) {
            ends(state, branch, inside(state.lexeme(branch), parent));
        }
        if (joint != null) {
            Ends left = inside(joint, parent);
            for (int branch = alone; branch < branches; branch++) {
                Ends its = branch == branches - 1 ? left : inside.those(left, state.lexeme(branch), parent);
                left = left.without(its);
                ends(state, branch, its);
            }
        }
        return branches > 0;
    }

    /** Adds the tokens inside a lexeme; tells its ends. */
    private Ends inside(Lexeme lexeme, int parent) {
        LexemeMask mask = below(lexeme, parent);
        found.tokens.addAll(mask.inside);
        if (isFar()) {
            mask.inside.forEach(found.far::add);
        }
        return mask.ends;
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
        found.tokens.add(token);
        if (isFar()) {
            found.far.add(token);
        }
    }

    /** The steps by one byte from a state that many nodes of the trie ask for. */
    private static final class FirstSteps {
        private static final Object NOWHERE = new Object();

        private final State from;
        private final @Nullable Object[] known = new Object[256]; // null where not asked for

        FirstSteps(State from) {
            this.from = from;
        }

        @SuppressWarnings("ReferenceEquality") // a mark
        @Nullable
        State step(int octet) {
            Object found = known[octet];
            if (found == null) {
                State next = from.advance(octet);
                found = next == null ? NOWHERE : next;
                known[octet] = found;
            }
            return found == NOWHERE ? null : (State) found;
        }
    }
}
