package roselle.grammar.automaton;

import org.jspecify.annotations.Nullable;

/**
 * A state of a finite automaton over bytes without a stack: inside a string, a number, a word.
 *
 * <p>Lexemes are interned: those with the same language are, where that is cheap to know, the same object. From each of them an end
 * can be reached.
 */
public interface Lexeme {
    /** The lexeme behind one more byte (0 to 255), or null where it does not go on so. */
    @Nullable
    Lexeme next(int octet);

    /** Whether the lexeme is complete here; it may still go on. */
    boolean mayEnd();

    /**
     * The wider lexeme that this one is part of, where this is that one without the texts of {@link #excluded()}, of which there are
     * finitely many, and no beginning is lost with them; null for most. A mask is then that of the wider one, which is
     * remembered, without the tokens that complete an excluded text.
     */
    default @Nullable Lexeme wider() {
        return null;
    }

    /** The texts that {@link #wider()} has and this has not; null once none of them goes on from here. */
    default @Nullable Lexeme excluded() {
        return null;
    }

    /**
     * The lexeme without bounds on its number of symbols, where those bounds are all that keeps this one from it; null for most. What
     * it allows is then counted and not walked.
     */
    default @Nullable Lexeme unbounded() {
        return null;
    }

    /** The symbols that must come at least, where there is an {@link #unbounded()} lexeme. */
    default long minSymbols() {
        return 0;
    }

    /** The symbols that may come at most, where there is an {@link #unbounded()} lexeme. */
    default long maxSymbols() {
        return Long.MAX_VALUE;
    }

    /** Whether it lies between two symbols, and so a byte that leads here has completed one. */
    default boolean isBetweenSymbols() {
        return false;
    }

    /** Whether constraints share it, and with it what is known of its masks. */
    default boolean isShared() {
        return false;
    }
}
