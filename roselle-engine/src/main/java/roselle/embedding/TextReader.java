package roselle.embedding;

import java.util.Arrays;
import java.util.stream.IntStream;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.checkpoint.Checkpoint;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.SpecialSpellings;
import roselle.tokenizer.TokenPair;
import roselle.tokenizer.Tokenizer;

/** Texts to token ids, within an encoder's longest text; spellings of special tokens are plain text. */
final class TextReader {
    private static final EncodeOptions PROMPT = new EncodeOptions(false, true, true);

    private final Tokenizer tokenizer;
    private final SpecialSpellings specialSpellings;
    private final int context;

    TextReader(Checkpoint checkpoint, int context) {
        tokenizer = checkpoint.tokenizer();
        specialSpellings = new SpecialSpellings(tokenizer);
        this.context = context;
    }

    /** The ids of a text with what belongs around it. */
    int[] ids(String text, boolean truncates) {
        int[] ids = plain(text, truncates);
        int[] whole = tokenizer.withSpecial(ids);
        if (truncates && whole.length > context) {
            int room = Math.max(0, ids.length - (whole.length - context));
            whole = tokenizer.withSpecial(Arrays.copyOf(ids, room));
        }
        requireLength(whole.length);
        return whole;
    }

    /** The ids of two texts; where they are too long together, the longer of both loses its end first. */
    TokenPair pair(String first, String second, boolean truncates) {
        int[] one = plain(first, truncates);
        int[] other = plain(second, truncates);
        TokenPair pair = tokenizer.pair(one, other);
        int over = pair.ids().length - context;
        if (truncates && over > 0) {
            int left = Math.max(0, one.length + other.length - over);
            int ofOne = Math.min(one.length, Math.max((left + 1) / 2, left - other.length));
            pair = tokenizer.pair(
                    Arrays.copyOf(one, ofOne), Arrays.copyOf(other, Math.min(other.length, left - ofOne)));
        }
        requireLength(pair.ids().length);
        return pair;
    }

    /** The ids of two texts within a prompt, whose special tokens are read as such; of the second one the end may be left out. */
    int[] prompt(PairTemplate.Parts parts, String first, String second, boolean truncates) {
        String begin = parts.before() + specialSpellings.guard(first) + parts.between();
        String text = begin + specialSpellings.guard(second);
        if (!truncates && tokenizer.leastIds(text.length()) > context) {
            throw tooLong("at least " + tokenizer.leastIds(text.length()));
        }
        int[] whole = tokenizer.encode(text + parts.behind(), PROMPT);
        int over = whole.length - context;
        if (truncates && over > 0) {
            int[] behind = tokenizer.encode(parts.behind(), PROMPT);
            int[] before = tokenizer.encode(text, PROMPT);
            int least = tokenizer.encode(begin, PROMPT).length; // of which none may be left out
            int room = Math.max(Math.min(least, before.length), Math.min(before.length, context - behind.length));
            whole = IntStream.concat(Arrays.stream(before, 0, room), Arrays.stream(behind))
                    .toArray();
        }
        requireLength(whole.length);
        return whole;
    }

    /** The ids of a text alone; what cannot fit is refused before it is read. */
    private int[] plain(String text, boolean truncates) {
        if (!truncates && tokenizer.leastIds(text.length()) > context) {
            throw tooLong("at least " + tokenizer.leastIds(text.length()));
        }
        return tokenizer.encode(text, EncodeOptions.PLAIN);
    }

    void requireLength(int tokens) {
        if (tokens > context) {
            throw tooLong(Integer.toString(tokens));
        }
    }

    private InvalidRequestException tooLong(String tokens) {
        return new InvalidRequestException(
                Reason.CONTEXT_LENGTH,
                "",
                "a text has " + tokens + " tokens, but the model takes " + context
                        + ": shorten it, or ask for its end to be left out");
    }
}
