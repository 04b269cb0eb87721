package roselle.grammar.automaton;

import org.jspecify.annotations.Nullable;

/**
 * Where a text stands in the language of a {@link Constraint}: everything that matters of the bytes read so far.
 *
 * <p>A state never changes, so going back and forking are keeping it. Of every state some way leads to the end of a text of the
 * language: there are no dead ends. States that recur should be the same object, because masks are remembered by identity.
 *
 * <p><b>Branches.</b> Masks of the next token come from walking the vocabulary's trie, and {@link #advance} is too slow for that
 * where much is allowed. A state may therefore tell the same language once more, as a union of branches: branch {@code i} is the
 * bytes of {@link #lexeme}{@code (i)}, and then what {@link #leave} allows. Walks inside lexemes are remembered for each lexeme,
 * across states. A state with no branches is walked byte by byte, which is right and may be slow.
 */
public interface State {
    /** The state behind one more byte (0 to 255), or null where no text of the language goes on so. */
    @Nullable
    State advance(int octet);

    /** Whether {@link #advance} leads anywhere; where that alone is wanted, this may take less. */
    default boolean mayAdvance(int octet) {
        return advance(octet) != null;
    }

    /** Whether the text read so far is in the language. */
    boolean isAccepting();

    /** The bytes that may come, where they are few and this is cheap to know; others may be among them. Null for most. Read only. */
    default int @Nullable [] octets() {
        return null;
    }

    /** This state where a token ends with the byte that was read last: what is counted in tokens is counted there. Itself for most. */
    default State behindToken() {
        return this;
    }

    /**
     * A state that recurs, where this one does not; itself for most. It allows the same next tokens, and perhaps more of those that go on
     * behind a comma which follows the lexeme that they begin in.
     */
    default State twin() {
        return this;
    }

    /**
     * Whether what comes behind a comma may depend on what this state knows and its {@link #twin} does not in other ways than by keys
     * that must not come twice.
     */
    default boolean hangsOnItems() {
        return true;
    }

    /**
     * Whether, where a state {@link #hangsOnItems}, no more does than what a further item holds: that one may come, and may begin as a
     * text, is then as its {@link #twin} has it.
     */
    default boolean hangsOnContents() {
        return false;
    }

    /**
     * Whether a state that {@link #hangsOnContents} stands within an item that the next quotation mark ends if it is not escaped, and no
     * more hangs on it than what comes with a further item that is complete, or is no text: one that has begun as a text may always be
     * prolonged to one that differs from all others.
     */
    default boolean hangsOnWholeItems() {
        return false;
    }

    /**
     * A state that recurs in other places of texts, and allows what this one does up to the end of a value that what stands around it has
     * no say in; null where there is none. Where that value ends, it leads to a state that is an {@link #exit}.
     */
    default @Nullable State detached() {
        return null;
    }

    /** Which end of a {@link #detached} value this is; -1 where it is none. */
    default int exit() {
        return -1;
    }

    /** The state behind an end of the {@link #detached} value; null where nothing can follow. */
    default @Nullable State behind(int exit) {
        throw new IndexOutOfBoundsException(exit);
    }

    /** How many branches tell the language of this state; 0 where only {@link #advance} does. */
    default int branches() {
        return 0;
    }

    /** Where a branch stands in its lexeme; never one that has ended with nothing to follow inside. */
    default Lexeme lexeme(int branch) {
        throw new IndexOutOfBoundsException(branch);
    }

    /**
     * The lexeme of all texts of the last {@link #together} branches, where those have none in common: what stays inside it is inside one
     * of them, and of its ends each is an end of one of them. Which end it is does not matter for what follows those. Null where there is
     * none; it helps where it is simpler than they are.
     */
    default @Nullable Lexeme joint() {
        return null;
    }

    /** How many branches have a {@link #joint}. */
    default int together() {
        return 0;
    }

    /**
     * The state after the lexeme of a branch.
     *
     * @param end a successor of {@code lexeme(branch)} or of the {@link #joint}, or itself, that {@link Lexeme#mayEnd may end}
     * @return null where nothing can follow
     */
    default @Nullable State leave(int branch, Lexeme end) {
        throw new IndexOutOfBoundsException(branch);
    }
}
