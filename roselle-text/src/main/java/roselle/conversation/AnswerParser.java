package roselle.conversation;

import java.util.ArrayList;
import java.util.List;
import roselle.conversation.AnswerPart.Call;
import roselle.conversation.AnswerPart.Text;
import roselle.conversation.AnswerPart.Thought;
import roselle.conversation.CallSyntax.WrittenCall;
import roselle.conversation.ConversationFormat.Mark;

/**
 * Splits one answer into what it says, thinks and calls, by the tokens with which the model marks these parts.
 *
 * <p>A call is told when it is complete. What was marked as a call but is not written as one stays text, so nothing that the
 * model wrote is lost. What one token completes is of one kind: a text, a thought, or calls; text behind a mark within one
 * token's text waits for the next token.
 */
public final class AnswerParser {
    private enum Kind {
        TEXT,
        THOUGHT,
        CALL
    }

    private final ConversationFormat format;
    private final boolean mayCall;
    private final StringBuilder call = new StringBuilder();
    private Kind kind;
    private String waiting = "";
    private int calls;
    private int thoughtTokens;

    AnswerParser(ConversationFormat format, boolean mayCall, boolean isThinking) {
        this.format = format;
        this.mayCall = mayCall;
        kind = isThinking ? Kind.THOUGHT : Kind.TEXT;
    }

    /** Takes a token and the text that is certain with it; returns the parts that are, too: none while a call is incomplete. */
    public List<AnswerPart> append(int id, String text) {
        if (kind == Kind.THOUGHT) {
            thoughtTokens++;
        }
        if (id == format.thoughts().begin().id()) {
            return turn(text, format.thoughts().begin(), Kind.THOUGHT);
        }
        if (id == format.thoughts().end().id()) {
            return turn(text, format.thoughts().end(), Kind.TEXT);
        }
        if (mayCall && id == format.calls().begin().id()) {
            return turn(text, format.calls().begin(), Kind.CALL);
        }
        if (mayCall && id == format.calls().end().id()) {
            return turn(text, format.calls().end(), Kind.TEXT);
        }
        return said(taken(text));
    }

    /** What was held back, with the last of the text. */
    public List<AnswerPart> finish(String text) {
        return turn(text, Mark.NONE, Kind.TEXT);
    }

    /** Tokens that the model thought with, the mark at their end among them. */
    public int thoughtTokens() {
        return thoughtTokens;
    }

    private List<AnswerPart> turn(String text, Mark mark, Kind next) {
        int end = mark.text().isEmpty() ? -1 : text.indexOf(mark.text());
        List<AnswerPart> parts = said(taken(end < 0 ? text : text.substring(0, end)));
        if (kind == Kind.CALL) {
            parts = complete();
        }
        kind = next;
        waiting = end < 0 ? "" : text.substring(end + mark.text().length());
        return parts;
    }

    /** The text behind the one that waits, which is taken with it. */
    private String taken(String text) {
        String all = waiting.isEmpty() ? text : waiting + text;
        waiting = "";
        return all;
    }

    private List<AnswerPart> said(String text) {
        if (text.isEmpty()) {
            return List.of();
        }
        return switch (kind) {
            case TEXT -> List.of(new Text(text));
            case THOUGHT -> List.of(new Thought(text));
            case CALL -> {
                call.append(text);
                yield List.of();
            }
        };
    }

    private List<AnswerPart> complete() {
        String written = call.toString();
        call.setLength(0);
        if (written.isEmpty()) {
            return List.of();
        }
        List<WrittenCall> read = format.syntax().read(written);
        if (read.isEmpty()) {
            return List.of(new Text(written));
        }
        List<AnswerPart> parts = new ArrayList<>(read.size());
        for (WrittenCall each : read) {
            parts.add(new Call(calls++, each.name(), each.arguments()));
        }
        return parts;
    }
}
