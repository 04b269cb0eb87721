package roselle.engine;

import java.util.List;
import roselle.tokenizer.IncrementalDecoder;
import roselle.tokenizer.Tokenizer;

/** One choice's ids becoming text: decoded, searched for stop strings, and never more than what is certain. */
final class AnswerText {
    /** Prompt tokens that can matter to how the next one is read: more than the bytes of a character. */
    private static final int PRIMING_TOKENS = 8;

    private final Tokenizer tokenizer;
    private final IncrementalDecoder decoder;
    private final StopStringMatcher stops;

    /** What follows {@code prompt}: its first word may begin with a space, or within a character. */
    AnswerText(Tokenizer tokenizer, int[] prompt, List<String> stopStrings) {
        this.tokenizer = tokenizer;
        decoder = tokenizer.incrementalDecoder(true);
        stops = new StopStringMatcher(stopStrings);
        for (int position = Math.max(0, prompt.length - PRIMING_TOKENS); position < prompt.length; position++) {
            if (tokenizer.hasToken(prompt[position])) {
                decoder.append(prompt[position]);
            }
        }
    }

    /** The text that is certain with one more id; one that has no token adds none. */
    String append(int id) {
        return tokenizer.hasToken(id) ? stops.append(decoder.append(id)) : "";
    }

    /** The stop string that ended the text, or empty. */
    String match() {
        return stops.match();
    }

    /** What was held back, now that no more tokens come. */
    String finish() {
        if (!stops.match().isEmpty()) {
            return "";
        }
        String tail = stops.append(decoder.finish());
        return stops.match().isEmpty() ? tail + stops.finish() : tail;
    }
}
