package roselle.conversation;

import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.conversation.parse.CallReader;
import roselle.conversation.parse.CallReader.Result;
import roselle.conversation.parse.CallReaders;
import roselle.conversation.parse.Letters;
import roselle.conversation.parse.MarkFinder;

/**
 * Splits one answer into what it says, thinks and calls, by the marks of the model's format.
 *
 * <p>Everything is told as soon as it is certain: held back is what may be the beginning of a mark, line breaks that may belong
 * to one, and a call until its arguments begin. Marks are never told. What is marked as a call but is not written as one is text,
 * so nothing that the model wrote is lost. The work is the same for each character, whatever the answer.
 */
public final class AnswerParser {
    /** A text, and how far it was read. */
    private static final class Cursor {
        final String text;
        int position;

        Cursor(String text) {
            this.text = text;
        }
    }

    private enum Kind {
        TEXT,
        THOUGHT,
        CALL
    }

    private final Marks marks;
    private final @Nullable CallReaders readers;
    private final StringBuilder held = new StringBuilder(); // may be the beginning of a mark
    private final StringBuilder written = new StringBuilder(); // may be a call, or text
    private final Parts parts;
    private final ArrayDeque<Cursor> input = new ArrayDeque<>(); // what is to be read, the first first

    private Kind kind;
    private int search = MarkFinder.START;
    private @Nullable CallReader reader;
    private boolean isAtBegin = true; // nothing was said or called yet
    private boolean isBehindMark;
    private int lineBreaks; // at the end of what was read, and not told
    private int thoughtTokens;
    private long work;

    /**
     * @param readers of calls; null where there is nothing to call
     * @param begun what the prompt has begun
     */
    AnswerParser(Marks marks, @Nullable CallReaders readers, Begun begun) {
        this.marks = marks;
        this.readers = readers;
        parts = new Parts(marks.ids(), written);
        kind = begun == Begun.THOUGHT ? Kind.THOUGHT : Kind.TEXT;
        isBehindMark = begun != Begun.NOTHING;
        if (begun == Begun.CALL && readers != null) {
            call(readers.marked(parts));
        }
    }

    /** What a prompt ends with. */
    enum Begun {
        NOTHING,
        THOUGHT,
        CALL
    }

    /**
     * Takes the text that is certain with one more token, with a letter for each token that has one
     * ({@link ConversationFormat#letter}); returns the parts that are certain, too.
     */
    public List<AnswerPart> append(String text) {
        if (kind == Kind.THOUGHT) {
            thoughtTokens++;
        }
        read(text);
        return parts.take();
    }

    /** What was held back, with the last of the text. */
    public List<AnswerPart> finish(String text) {
        read(text);
        while (kind == Kind.CALL) {
            finishCall();
        }
        for (int position = 0; position < held.length(); position++) {
            say(held.charAt(position));
        }
        held.setLength(0);
        if (!isBehindMark) {
            flushLineBreaks();
        }
        return parts.take();
    }

    private void finishCall() {
        if (reader != null) {
            reader.finish();
        }
        boolean isLost = isUnsaid();
        String rest = written.toString();
        leaveCall();
        if (isLost) {
            read(rest);
        }
    }

    /** Whether what was read behind the last call may be more than the beginning of a mark. */
    private boolean isUnsaid() {
        String rest = written.toString().strip();
        return parts.hasCalled()
                ? !rest.replaceAll("[,;\\s]+", "").isEmpty() && !marks.isCut(rest)
                : !written.isEmpty();
    }

    /** Tokens that the model thought with, the mark at their end among them. */
    public int thoughtTokens() {
        return thoughtTokens;
    }

    /** Characters that were looked at, those that were looked at again among them. */
    long work() {
        return work;
    }

    private void read(String text) {
        if (text.isEmpty()) {
            return;
        }
        if (marks.isEmpty() && kind == Kind.TEXT && readers == null && !isBehindMark) {
            for (int position = 0; position < text.length(); position++) {
                parts.text(text.charAt(position));
            }
            return;
        }
        input.push(new Cursor(text));
        while (!input.isEmpty()) {
            work++;
            Cursor cursor = input.element();
            if (cursor.position == cursor.text.length()) {
                input.pop();
            } else if (accept(cursor.text.charAt(cursor.position))) {
                cursor.position++;
            } else if (!written.isEmpty()) { // taken for a call: once more, as text
                input.push(new Cursor(written.toString()));
                written.setLength(0);
            }
        }
    }

    /** Returns false where the character was not taken, and what was read before it is to be read again. */
    private boolean accept(char letter) {
        return switch (kind) {
            case TEXT, THOUGHT -> speak(letter);
            case CALL -> call(letter);
        };
    }

    private boolean speak(char letter) {
        if (isAtBegin && kind == Kind.TEXT && held.isEmpty() && readers != null && readers.mayBegin(letter)) {
            call(readers.bare(parts));
            return call(letter);
        }
        MarkFinder finder = finder();
        search = finder.step(search, letter);
        held.append(letter);
        int mark = finder.found(search);
        int kept = mark < 0 ? finder.pending(search) : finder.mark(mark).length();
        int certain = held.length() - kept;
        for (int position = 0; position < certain; position++) {
            say(held.charAt(position));
        }
        held.delete(0, certain);
        if (mark >= 0) {
            held.setLength(0);
            search = MarkFinder.START;
            turn(marks.meaning(finder.mark(mark), kind == Kind.THOUGHT));
        }
        return true;
    }

    private MarkFinder finder() {
        return kind == Kind.THOUGHT ? marks.inThought(readers != null) : marks.inText(readers != null);
    }

    private void say(char letter) {
        if (Letters.isToken(letter)) {
            return; // a mark where none was expected
        }
        if (letter == '\n' && (isBehindMark || kind == Kind.THOUGHT || readers != null)) {
            lineBreaks += isBehindMark ? 0 : 1;
            return;
        }
        isBehindMark = false;
        flushLineBreaks();
        isAtBegin &= kind == Kind.THOUGHT || letter <= ' ';
        tell(letter);
    }

    private void flushLineBreaks() {
        while (lineBreaks > 0) {
            lineBreaks--;
            tell('\n');
        }
    }

    private void tell(char letter) {
        if (kind == Kind.THOUGHT) {
            parts.thought(letter);
        } else {
            parts.text(letter);
        }
    }

    private void turn(Marks.Meaning meaning) {
        if (meaning != Marks.Meaning.SILENT || kind == Kind.TEXT) {
            lineBreaks = 0;
            isBehindMark = true;
        }
        switch (meaning) {
            case THOUGHT -> kind = Kind.THOUGHT;
            case TEXT -> kind = Kind.TEXT;
            case CALL -> {
                if (readers != null) {
                    call(readers.marked(parts));
                }
            }
            case SILENT -> {}
        }
    }

    private void call(CallReader next) {
        kind = Kind.CALL;
        reader = next;
        isAtBegin = false;
        written.setLength(0);
    }

    private boolean call(char letter) {
        parts.hasSettled = false;
        Result result = reader == null ? Result.FAILED : reader.accept(letter);
        return switch (result) {
            case MORE -> {
                if (!parts.hasSettled) {
                    written.append(letter);
                }
                yield true;
            }
            case DONE -> {
                written.setLength(0);
                leaveCall();
                yield true;
            }
            case DONE_BEFORE, FAILED -> {
                written.append(reader == null ? "" : reader.leftover());
                String rest = written.toString();
                leaveCall();
                written.append(rest);
                yield false;
            }
        };
    }

    private void leaveCall() {
        written.setLength(0);
        reader = null;
        kind = Kind.TEXT;
        search = MarkFinder.START;
        isBehindMark = true;
    }
}
