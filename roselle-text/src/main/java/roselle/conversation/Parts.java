package roselle.conversation;

import java.util.ArrayList;
import java.util.List;
import roselle.conversation.AnswerPart.Call;
import roselle.conversation.AnswerPart.CallDelta;
import roselle.conversation.AnswerPart.CallStarted;
import roselle.conversation.AnswerPart.Text;
import roselle.conversation.AnswerPart.Thought;
import roselle.conversation.format.CallIds;
import roselle.conversation.parse.CallSink;

/** Collects the parts that one token makes certain; neighbours of one kind become one part. */
final class Parts implements CallSink {
    private enum Kind {
        NONE,
        TEXT,
        THOUGHT,
        ARGUMENTS
    }

    private final CallIds ids;
    private final StringBuilder written; // behind the last mark or call, while it is not certain to be one
    private List<AnswerPart> parts = new ArrayList<>();
    private final StringBuilder growing = new StringBuilder();
    private Kind kind = Kind.NONE;
    private final StringBuilder arguments = new StringBuilder();
    private int calls;
    boolean hasSettled; // with the character that is being read
    private String id = "";
    private String name = "";

    Parts(CallIds ids, StringBuilder written) {
        this.ids = ids;
        this.written = written;
    }

    void text(char letter) {
        grow(Kind.TEXT, letter);
    }

    void thought(char letter) {
        grow(Kind.THOUGHT, letter);
    }

    private void grow(Kind next, char letter) {
        if (kind != next) {
            flush();
            kind = next;
        }
        growing.append(letter);
    }

    private void flush() {
        if (!growing.isEmpty()) {
            String text = growing.toString();
            growing.setLength(0);
            switch (kind) {
                case TEXT -> parts.add(new Text(text));
                case THOUGHT -> parts.add(new Thought(text));
                case ARGUMENTS -> parts.add(new CallDelta(calls, text));
                case NONE -> {}
            }
        }
        kind = Kind.NONE;
    }

    @Override
    public void started(String called, String writtenId) {
        flush();
        name = called;
        id = writtenId.isEmpty() ? ids.next(called, calls) : writtenId;
        arguments.setLength(0);
        parts.add(new CallStarted(calls, id, name));
        settled();
    }

    @Override
    public void argument(char letter) {
        arguments.append(letter);
        grow(Kind.ARGUMENTS, letter);
    }

    @Override
    public void ended() {
        flush();
        parts.add(new Call(calls++, id, name, arguments.toString()));
        settled();
    }

    @Override
    public void settled() {
        written.setLength(0);
        hasSettled = true;
    }

    /** Whether a call is complete. */
    boolean hasCalled() {
        return calls > 0;
    }

    /** What was collected since the last time. */
    List<AnswerPart> take() {
        flush();
        if (parts.isEmpty()) {
            return List.of();
        }
        List<AnswerPart> taken = parts;
        parts = new ArrayList<>();
        return taken;
    }
}
