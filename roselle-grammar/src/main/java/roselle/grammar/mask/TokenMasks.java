package roselle.grammar.mask;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.Lexeme;
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
    private final IdentityTable<LexemeMask> lexemes = new IdentityTable<>();
    private final Map<Long, TokenMask> byContent = new HashMap<>();
    private int nextId;
    private long keptBytes;

    public TokenMasks(Constraint constraint, Vocabulary vocabulary) {
        this.constraint = constraint;
        this.vocabulary = vocabulary;
        this.walk = new TrieWalk(vocabulary);
    }

    /** Begins an answer. */
    public TokenMatcher matcher() {
        return new TokenMatcher(this, constraint.start());
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
        if (keptBytes > MAX_BYTES) {
            forget();
        }
        long[] bits = new long[vocabulary.words()];
        if (state.isAccepting()) {
            for (int token : vocabulary.endTokens()) {
                bits[token >>> 6] |= 1L << token;
            }
        }
        if (state.branches() == 0) {
            walk.behind(state, 0, bits);
        }
        for (int branch = 0; branch < state.branches(); branch++) {
            addBranch(state, branch, bits);
        }
        TokenMask mask = interned(bits);
        known.add(state, mask);
        keptBytes += 64;
        return mask;
    }

    private void addBranch(State state, int branch, long[] bits) {
        LexemeMask inside = lexemeMask(state.lexeme(branch));
        for (int i = 0; i < bits.length; i++) {
            bits[i] |= inside.inside[i];
        }
        walk.ends(state, branch, inside, bits);
    }

    private LexemeMask lexemeMask(Lexeme lexeme) {
        if (lexeme.isShared()) {
            return vocabulary.sharedMask(lexeme, walk);
        }
        LexemeMask found = lexemes.find(lexeme);
        if (found != null) {
            return found;
        }
        LexemeMask made = makeLexemeMask(lexeme);
        lexemes.add(lexeme, made);
        keptBytes += made.bytes();
        return made;
    }

    private LexemeMask makeLexemeMask(Lexeme lexeme) {
        Lexeme unbounded = lexeme.unbounded();
        if (unbounded != null) {
            return walk.bounded(lexemeMask(unbounded), lexeme.minSymbols(), lexeme.maxSymbols());
        }
        Lexeme wider = lexeme.wider();
        Lexeme excluded = wider == null ? null : lexeme.excluded();
        return wider == null || excluded == null ? walk.inside(lexeme) : walk.without(lexemeMask(wider), excluded);
    }

    private TokenMask interned(long[] bits) {
        long hash = 0;
        for (long word : bits) {
            hash = (hash ^ word) * 0x9E3779B97F4A7C15L;
            hash ^= hash >>> 29;
        }
        while (true) {
            TokenMask there = byContent.get(hash);
            if (there == null) {
                TokenMask mask = new TokenMask(nextId++, bits);
                byContent.put(hash, mask);
                keptBytes += 8L * bits.length;
                return mask;
            }
            if (there.hasBits(bits)) {
                return there;
            }
            hash++;
        }
    }

    private void forget() {
        known.clear();
        lexemes.clear();
        byContent.clear();
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
        return at;
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

    /** Masks that differ, so far. */
    public int distinctMasks() {
        return nextId;
    }
}
