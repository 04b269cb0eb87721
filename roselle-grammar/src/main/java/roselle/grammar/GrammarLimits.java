package roselle.grammar;

import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;

/**
 * What a constraint may cost.
 *
 * @param maxSourceCharacters of the schema or expression
 * @param workUnits of compiling; about 5 million take a second and 1 GB in passing
 * @param stepUnits of one step behind it, a mask or a token, which the engine's thread waits for
 * @param answerUnits beyond that, for all steps of an answer together, none of which costs more than compiling may
 * @param keptUnits of memory while it lives, about 100 bytes each
 */
public record GrammarLimits(int maxSourceCharacters, long workUnits, long stepUnits, long answerUnits, long keptUnits) {
    /**
     * Enough for schemas of people: at most 64 MB are allocated for a piece of work, and as much is kept. A step takes about 8 ms at
     * most, but for 0.2 s of an answer in which parts are built for the first time.
     */
    public static final GrammarLimits DEFAULTS = new GrammarLimits(4 << 20, 320_000, 40_000, 960_000, 600_000);

    public GrammarLimits {
        if (maxSourceCharacters < 1 || workUnits < 1 || stepUnits < 1 || answerUnits < 0 || keptUnits < 1) {
            throw new IllegalArgumentException("limits of grammars must be positive");
        }
    }

    void check(String source) {
        if (source.length() > maxSourceCharacters) {
            throw new GrammarException(
                    Reason.BUDGET,
                    "it has " + source.length() + " characters; " + maxSourceCharacters + " are allowed.");
        }
    }
}
