package roselle.grammar.mask;

import org.jspecify.annotations.Nullable;

/**
 * A set of tokens as few differences from a base: what joins, removes and interns sets then takes time by the differences.
 *
 * @param added none of the base
 * @param removed sorted; all of the base
 */
@SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
record TokenSet(@Nullable Dense base, int[] added, int[] removed) {
    static final TokenSet NONE = new TokenSet(null, new int[0], new int[0]);

    static TokenSet of(Dense base) {
        return new TokenSet(base, NONE.added, NONE.removed);
    }
}
