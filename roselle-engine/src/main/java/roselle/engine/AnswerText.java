package roselle.engine;

import java.util.List;
import roselle.tokenizer.IncrementalDecoder;

/** One choice's ids becoming text: decoded, searched for stop strings, and never more than what is certain. */
final class AnswerText {
    private final IncrementalDecoder decoder;
    private final StopStringMatcher stops;

    AnswerText(IncrementalDecoder decoder, List<String> stopStrings) {
        this.decoder = decoder;
        stops = new StopStringMatcher(stopStrings);
    }

    String append(int id) {
        return stops.append(decoder.append(id));
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
