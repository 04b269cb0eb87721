package roselle.testing;

import java.util.Optional;

/** What every refusal of a file or an input is: one short line, whatever the file spells. */
public final class OneSentence {
    private static final int LONGEST = 1100;

    private OneSentence() {}

    /** Fails if the message is none. */
    public static void check(RuntimeException refusal) {
        String message = Optional.ofNullable(refusal.getMessage()).orElse("");
        boolean breaks = message.chars()
                .anyMatch(character -> Character.isISOControl(character) || character == 0x2028 || character == 0x2029);
        if (message.isBlank() || message.length() > LONGEST || breaks) {
            throw new AssertionError("not one sentence: " + message, refusal);
        }
    }
}
