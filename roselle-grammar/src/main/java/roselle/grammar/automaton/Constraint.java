package roselle.grammar.automaton;

/**
 * A language of bytes that an answer must belong to; immutable as seen from outside, and thread-safe.
 *
 * <p>What implementations build lazily they build behind a lock of their own. A grammar with a stack (EBNF, Lark, structural tags)
 * is a further implementation: its states hold the stack as a persistent list.
 */
public interface Constraint {
    /** The state before the first byte. */
    State start();

    /** Says that the steps asked for until {@link #endStep} are one piece of work, such as a mask. Called under a lock of the caller. */
    default void beginStep() {}

    /** Ends what {@link #beginStep} began. */
    default void endStep() {}
}
