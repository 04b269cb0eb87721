package roselle.conversation;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import roselle.conversation.parse.Letters;
import roselle.conversation.parse.MarkFinder;
import roselle.tokenizer.Tokenizer;

/**
 * What comes before the text of an answer, token by token: thoughts, or the name of a channel. Immutable; where an answer stands is a
 * number that its reader keeps, and may go back to.
 */
public final class AnswerLead {
    /** Where the text has begun. */
    public static final int OVER = -1;

    /** What {@link #beginToken} is where there is no such token. */
    public static final int NO_TOKEN = -1;

    private final Tokenizer tokenizer;
    private final Letters letters;
    private final MarkFinder ends; // of letters, and of bytes as characters
    private final int first;
    private final int beginToken;

    private AnswerLead(Tokenizer tokenizer, Letters letters, List<String> ends, int first, int beginToken) {
        this.tokenizer = tokenizer;
        this.letters = letters;
        this.ends =
                new MarkFinder(ends.stream().map(mark -> octets(mark.strip())).toList());
        this.first = first;
        this.beginToken = beginToken;
    }

    /** Of an answer that is text from its beginning. */
    public static AnswerLead none(Tokenizer tokenizer) {
        return new AnswerLead(tokenizer, new Letters(Map.of()), List.of(), OVER, NO_TOKEN);
    }

    /** Of an answer that is to have one of some marks before its text. */
    static AnswerLead until(Tokenizer tokenizer, Letters letters, List<String> ends) {
        return new AnswerLead(tokenizer, letters, ends, MarkFinder.START, NO_TOKEN);
    }

    /** Of an answer that may begin with a token, and then has one of some marks before its text. */
    static AnswerLead after(int beginToken, Tokenizer tokenizer, Letters letters, List<String> ends) {
        return new AnswerLead(tokenizer, letters, ends, OVER, beginToken);
    }

    private static String octets(String mark) {
        var octets = new StringBuilder();
        for (int at = 0; at < mark.length(); at++) {
            char letter = mark.charAt(at);
            if (Letters.isToken(letter)) {
                octets.append(letter);
                continue;
            }
            int end = at;
            while (end < mark.length() && !Letters.isToken(mark.charAt(end))) {
                end++;
            }
            octets.append(octets(mark.substring(at, end).getBytes(StandardCharsets.UTF_8)));
            at = end - 1;
        }
        return octets.toString();
    }

    private static String octets(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** Where an answer begins; {@link #OVER} for most. */
    public int first() {
        return first;
    }

    /** The token with which an answer may begin thoughts, where it does not begin with any; or {@link #NO_TOKEN}. */
    public int beginToken() {
        return beginToken;
    }

    /** Where thoughts begin behind {@link #beginToken}. */
    public int begun() {
        return MarkFinder.START;
    }

    /** Whether nothing comes before the text. */
    public boolean isNone() {
        return first == OVER && beginToken == NO_TOKEN;
    }

    /** Where an answer stands behind one more token. */
    public int next(int at, int token) {
        char letter = letters.of(token);
        String read = letter != 0 ? String.valueOf(letter) : octets(bytes(token));
        int next = at;
        for (int index = 0; index < read.length(); index++) {
            next = ends.step(next, read.charAt(index));
            if (ends.found(next) >= 0) {
                return OVER;
            }
        }
        return next;
    }

    private byte[] bytes(int token) {
        return tokenizer.hasToken(token) ? tokenizer.bytesOf(token) : new byte[0];
    }
}
