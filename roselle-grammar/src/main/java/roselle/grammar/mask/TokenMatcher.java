package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.List;
import roselle.grammar.automaton.State;

/** One answer under a constraint: its tokens so far, which can be taken back. Not thread-safe. */
public final class TokenMatcher {
    private final TokenMasks masks;
    private final List<State> states = new ArrayList<>();

    TokenMatcher(TokenMasks masks, State start) {
        this.masks = masks;
        states.add(start);
    }

    /** The tokens that may come next. */
    public TokenMask mask() {
        return masks.mask(state());
    }

    /**
     * Takes a token.
     *
     * @return whether it was allowed; if not, nothing has changed
     */
    public boolean advance(int token) {
        State next = masks.advance(state(), token);
        if (next == null) {
            return false;
        }
        states.add(next);
        return true;
    }

    /** Takes back the last {@code tokens}. */
    public void rollback(int tokens) {
        if (tokens < 0 || tokens > length()) {
            throw new IllegalArgumentException("cannot take back " + tokens + " tokens of " + length());
        }
        for (int i = 0; i < tokens; i++) {
            states.removeLast();
        }
    }

    /** Tokens taken. */
    public int length() {
        return states.size() - 1;
    }

    /** Whether the answer may end here. */
    public boolean isAccepting() {
        return state().isAccepting();
    }

    /** A second matcher at the same place. */
    public TokenMatcher fork() {
        TokenMatcher other = new TokenMatcher(masks, states.getFirst());
        other.states.addAll(states.subList(1, states.size()));
        return other;
    }

    /** Where the answer stands. */
    public State state() {
        return states.getLast();
    }

    /** The bytes that must come next whatever is chosen, at most {@code limit} of them. */
    public byte[] forcedBytes(int limit) {
        return masks.forcedBytes(state(), limit);
    }
}
