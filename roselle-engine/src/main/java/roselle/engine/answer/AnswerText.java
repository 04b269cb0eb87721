package roselle.engine.answer;

import java.util.ArrayDeque;
import java.util.List;
import roselle.conversation.ConversationFormat;
import roselle.tokenizer.IncrementalDecoder;
import roselle.tokenizer.Tokenizer;

/** One choice's ids becoming text: decoded, searched for stop strings, and never more than what is certain. */
final class AnswerText {
    /** Prompt tokens that can matter to how the next one is read: more than the bytes of a character. */
    private static final int PRIMING_TOKENS = 8;

    private final Tokenizer tokenizer;
    private final ConversationFormat format;
    private final IncrementalDecoder decoder;
    private final StopStringMatcher stops;
    private final ArrayDeque<Mark> marks = new ArrayDeque<>(); // behind text that is held back
    private long decoded;
    private long told;
    private String marked = "";

    /** A letter of the format, and how much text is before it. */
    private record Mark(long position, char letter) {}

    /** What follows {@code prompt}: its first word may begin with a space, or within a character. */
    AnswerText(Tokenizer tokenizer, ConversationFormat format, int[] prompt, List<String> stopStrings) {
        this.tokenizer = tokenizer;
        this.format = format;
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
        if (!tokenizer.hasToken(id)) {
            marked = "";
            return "";
        }
        String text = decoder.append(id);
        decoded += text.length();
        char letter = format.letter(id);
        if (letter != 0) {
            marks.add(new Mark(decoded, letter));
        }
        return tell(stops.append(text));
    }

    /** What was told last, with the format's letters for special tokens in it. */
    String marked() {
        return marked;
    }

    /** The stop string that ended the text, or empty. */
    String match() {
        return stops.match();
    }

    /** What was held back, now that no more tokens come. */
    String finish() {
        if (!stops.match().isEmpty()) {
            return tell("");
        }
        String tail = stops.append(decoder.finish());
        return tell(stops.match().isEmpty() ? tail + stops.finish() : tail);
    }

    private String tell(String text) {
        long begin = told;
        told += text.length();
        if (marks.isEmpty() || marks.element().position() > told) {
            marked = ConversationFormat.plain(text);
            return text;
        }
        String plain = ConversationFormat.plain(text);
        var woven = new StringBuilder();
        int taken = 0;
        while (!marks.isEmpty() && marks.element().position() <= told) {
            Mark mark = marks.remove();
            int end = (int) (mark.position() - begin);
            woven.append(plain, taken, end).append(mark.letter());
            taken = end;
        }
        marked = woven.append(plain, taken, plain.length()).toString();
        return text;
    }
}
