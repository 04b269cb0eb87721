package roselle.grammar.mask;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.State;

/**
 * The masks of one constraint over one vocabulary, computed when first asked for and kept; thread-safe.
 *
 * <p>A mask is, for each branch of a state, the tokens that stay inside its lexeme, found by one walk through the trie for each
 * lexeme, and the tokens that go on behind it, found by walking the states behind. Known masks are found by the state's identity.
 */
public final class TokenMasks {
    /** Bytes that masks and walks of one constraint may take before all of them are forgotten. */
    private static final long MAX_BYTES = 64L << 20;

    private final Constraint constraint;
    private final Vocabulary vocabulary;
    private final TrieWalk walk;
    private final IdentityTable<TokenMask> known = new IdentityTable<>();
    private final IdentityTable<Wide> twins = new IdentityTable<>();
    private @Nullable State lastStart;
    private long keptBytes;

    /** The mask of a {@link State#twin}, and its tokens that reach far. */
    private static final class Wide {
        final TokenMask mask;
        final int[] far;
        final int[] withContents;
        final int[] withItems;
        final int[] withKeys;
        private @Nullable Dense base; // of masks that are narrower; made when first asked for

        Wide(TokenMask mask, int[] far, int[] withContents, int[] withItems, int[] withKeys) {
            this.mask = mask;
            this.far = far;
            this.withContents = withContents;
            this.withItems = withItems;
            this.withKeys = withKeys;
        }

        TokenSet tokens() {
            Dense known = base;
            if (known == null) {
                known = Dense.of(mask.bits());
                base = known;
            }
            return TokenSet.of(known);
        }
    }

    public TokenMasks(Constraint constraint, Vocabulary vocabulary) {
        this.constraint = constraint;
        this.vocabulary = vocabulary;
        this.walk = new TrieWalk(vocabulary);
    }

    /** Begins an answer. */
    public TokenMatcher matcher() {
        return new TokenMatcher(this, begin());
    }

    @SuppressWarnings("ReferenceEquality") // interned
    private synchronized State begin() {
        State start = constraint.start();
        if (start != lastStart) { // the constraint was built anew: its old states do not come again
            forget();
            lastStart = start;
        }
        return start;
    }

    /** The tokens that may come next in a state of this constraint; an end token exactly where the text may end. */
    public TokenMask mask(State state) {
        TokenMask found = known.find(state);
        return found != null ? found : computeMask(state);
    }

    private synchronized TokenMask computeMask(State state) {
        TokenMask found = known.find(state);
        if (found != null) {
            return found;
        }
        if (keptBytes + walk.bytes() > MAX_BYTES) {
            forget();
        }
        constraint.beginStep();
        Builders builders = vocabulary.builders().take();
        walk.take(builders);
        TokenMask mask;
        try {
            State twin = state.twin();
            mask = twin.equals(state) ? walkedMask(state, false) : maskByTwin(state, twin);
        } finally {
            vocabulary.builders().giveBack(builders);
            constraint.endStep();
        }
        known.add(state, mask);
        keptBytes += 64;
        return mask;
    }

    /** What a state that recurs allows, but for tokens that reach so far that what was read before matters for them. */
    private TokenMask maskByTwin(State state, State twin) {
        Wide wide = twins.find(twin);
        if (wide == null) {
            TokenMask all = walkedMask(twin, true);
            int[] far = sorted(walk.farTokens());
            FarTokens kinds = vocabulary.far();
            int[] withContents = kinds.those(far, FarTokens.WITH_CONTENTS);
            int[] withItems = kinds.those(withContents, FarTokens.WITH_ITEMS);
            wide = new Wide(all, far, withContents, withItems, kinds.those(far, FarTokens.WITH_KEYS));
            twins.add(twin, wide);
            keptBytes += 64 + 8L * far.length;
        }
        SetBuilder narrowed = null;
        State[] path = new State[vocabulary.trie().maxDepth + 1]; // behind the bytes of the token before
        path[0] = state;
        int known = 0;
        byte[] before = {};
        for (int token : asked(wide, state)) {
            byte[] bytes = vocabulary.bytes(token);
            known = advance(path, Math.min(known, shared(before, bytes)), bytes);
            before = bytes;
            State last = path[known];
            if (last == null || !last.mayAdvance(bytes[bytes.length - 1] & 0xFF)) {
                if (narrowed == null) {
                    walk.clear(false); // a mask that was given up may have left some
                    narrowed = walk.tokens();
                    narrowed.addAll(wide.tokens());
                }
                narrowed.remove(token);
            }
        }
        return narrowed == null ? wide.mask : vocabulary.masks().mask(narrowed);
    }

    private static int shared(byte[] a, byte[] b) {
        int at = Arrays.mismatch(a, b);
        return at < 0 ? a.length : at;
    }

    /** Takes the bytes of a token but the last from one of them on; tells how many there are states behind, the last perhaps null. */
    private static int advance(@Nullable State[] path, int from, byte[] bytes) {
        int at = Math.min(from, bytes.length - 1);
        for (State last = path[at]; at < bytes.length - 1 && last != null; last = path[at]) {
            path[++at] = last.advance(bytes[at - 1] & 0xFF);
        }
        return at;
    }

    /** Each token once, in the order of their bytes. */
    private int[] sorted(int[] tokens) {
        NodeSymbols symbols = vocabulary.symbols();
        int[] ranks = new int[tokens.length];
        for (int i = 0; i < ranks.length; i++) {
            ranks[i] = symbols.rank[tokens[i]];
        }
        Arrays.sort(ranks);
        int size = 0;
        for (int i = 0; i < ranks.length; i++) {
            if (i == 0 || ranks[i] != ranks[i - 1]) {
                tokens[size++] = symbols.tokens[ranks[i]];
            }
        }
        return size == tokens.length ? tokens : Arrays.copyOf(tokens, size);
    }

    /** Those tokens for which it matters what was read before a state. */
    private static int[] asked(Wide wide, State state) {
        if (!state.hangsOnItems()) {
            return wide.withKeys;
        }
        if (wide.far.length == wide.withContents.length || !state.hangsOnContents()) {
            return wide.far;
        }
        return wide.withContents.length > wide.withItems.length && state.hangsOnWholeItems()
                ? wide.withItems
                : wide.withContents;
    }

    private TokenMask walkedMask(State state, boolean asksFar) {
        walk.clear(asksFar); // a walk that was given up may have left some
        if (state.isAccepting()) {
            for (int token : vocabulary.endTokens()) {
                walk.tokens().add(token);
            }
        }
        if (!walk.branches(state, 0)) {
            walk.behind(state, 0);
        }
        return vocabulary.masks().mask(walk.tokens());
    }

    private void forget() {
        known.clear();
        twins.clear();
        walk.forget();
        keptBytes = 0;
    }

    /** The state behind a token, or null where the token is not allowed; an end token leaves a state that may end as it is. */
    public @Nullable State advance(State state, int token) {
        if (vocabulary.isEnd(token)) {
            return state.isAccepting() ? state : null;
        }
        byte[] bytes = vocabulary.bytes(token);
        if (bytes.length == 0) {
            return null;
        }
        State at = state;
        for (byte octet : bytes) {
            at = at.advance(octet & 0xFF);
            if (at == null) {
                return null;
            }
        }
        return at.behindToken();
    }

    /** The bytes that must come next whatever is chosen, at most {@code limit} of them. */
    public byte[] forcedBytes(State state, int limit) {
        byte[] forced = new byte[limit];
        int length = 0;
        State at = state;
        while (length < limit && !at.isAccepting()) {
            State only = null;
            int octet = -1;
            for (int candidate = 0; candidate < 256; candidate++) {
                State next = at.advance(candidate);
                if (next != null && only != null) {
                    return Arrays.copyOf(forced, length);
                }
                if (next != null) {
                    only = next;
                    octet = candidate;
                }
            }
            if (only == null) {
                break;
            }
            forced[length++] = (byte) octet;
            at = only;
        }
        return Arrays.copyOf(forced, length);
    }
}
