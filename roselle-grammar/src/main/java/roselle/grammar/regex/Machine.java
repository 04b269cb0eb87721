package roselle.grammar.regex;

import org.jspecify.annotations.Nullable;

/** A state of an automaton over ASCII that computes its next states; equal states must be equal as objects. */
public interface Machine {
    /** The state behind a character below 128, or null. */
    @Nullable
    Machine next(int character);

    boolean isFinal();
}
