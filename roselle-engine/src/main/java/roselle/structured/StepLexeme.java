package roselle.structured;

import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;

/** One byte of a state that has no branches, so that it can be one of several ways. */
record StepLexeme(State state) implements Lexeme {
    /** Behind that byte. */
    record Behind(State state) implements Lexeme {
        @Override
        public @Nullable Lexeme next(int octet) {
            return null;
        }

        @Override
        public boolean mayEnd() {
            return true;
        }
    }

    @Override
    public @Nullable Lexeme next(int octet) {
        State next = state.advance(octet);
        return next == null ? null : new Behind(next);
    }

    @Override
    public int @Nullable [] octets() {
        return state.octets();
    }

    @Override
    public boolean mayEnd() {
        return false;
    }
}
