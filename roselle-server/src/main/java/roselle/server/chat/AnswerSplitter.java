package roselle.server.chat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.server.chat.AnswerPiece.Call;
import roselle.server.chat.AnswerPiece.Content;
import roselle.server.chat.AnswerPiece.Thought;
import roselle.server.chat.Markers.Marker;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;
import tools.jackson.databind.JsonNode;

/**
 * Splits one answer into what it says, thinks and calls, by the tokens with which the model marks these parts.
 *
 * <p>A call is told when it is complete. What was marked as a call but is not the JSON of one stays text, so nothing that the
 * model wrote is lost.
 */
public final class AnswerSplitter {
    private enum Part {
        CONTENT,
        THOUGHT,
        CALL
    }

    private static final int MOST_CALLS = 128;

    private final Markers markers;
    private final boolean mayCall;
    private final StringBuilder call = new StringBuilder();
    private Part part;
    private int calls;
    private int thoughtTokens;

    /**
     * A splitter at the beginning of an answer.
     *
     * @param mayCall whether there are tools to call; without any, a marked call is text
     * @param isThinking whether the prompt ends within a thought
     */
    public AnswerSplitter(Markers markers, boolean mayCall, boolean isThinking) {
        this.markers = markers;
        this.mayCall = mayCall;
        part = isThinking ? Part.THOUGHT : Part.CONTENT;
    }

    /** What is certain once this token is known; empty while a call is incomplete. */
    public List<AnswerPiece> add(TokenGenerated token) {
        int id = token.id();
        if (part == Part.THOUGHT) {
            thoughtTokens++;
        }
        if (id == markers.thinks().id()) {
            return turn(token.text(), markers.thinks(), Part.THOUGHT);
        }
        if (id == markers.thought().id()) {
            return turn(token.text(), markers.thought(), Part.CONTENT);
        }
        if (mayCall && id == markers.calls().id()) {
            return turn(token.text(), markers.calls(), Part.CALL);
        }
        if (mayCall && id == markers.called().id()) {
            return turn(token.text(), markers.called(), Part.CONTENT);
        }
        return text(token.text());
    }

    /** What was held back, with the last of the text. */
    public List<AnswerPiece> finish(String text) {
        return turn(text, Marker.NONE, Part.CONTENT);
    }

    /** Whether a tool was called. */
    public boolean hasCalled() {
        return calls > 0;
    }

    /** Tokens that the model thought with, the mark at their end among them. */
    public int thoughtTokens() {
        return thoughtTokens;
    }

    private List<AnswerPiece> turn(String text, Marker marker, Part next) {
        int end = marker.text().isEmpty() ? -1 : text.indexOf(marker.text());
        List<AnswerPiece> pieces = new ArrayList<>(text(end < 0 ? text : text.substring(0, end)));
        if (part == Part.CALL) {
            pieces.addAll(complete());
        }
        part = next;
        if (end >= 0) {
            pieces.addAll(text(text.substring(end + marker.text().length())));
        }
        return pieces;
    }

    private List<AnswerPiece> text(String text) {
        if (text.isEmpty()) {
            return List.of();
        }
        return switch (part) {
            case CONTENT -> List.of(new Content(text));
            case THOUGHT -> List.of(new Thought(text));
            case CALL -> {
                call.append(text);
                yield List.of();
            }
        };
    }

    private List<AnswerPiece> complete() {
        String written = call.toString();
        call.setLength(0);
        try {
            List<AnswerPiece> parsed = parsed(written);
            calls += parsed.size();
            return parsed;
        } catch (ApiException _) { // not the JSON of a call
            return written.isEmpty() ? List.of() : List.of(new Content(written));
        }
    }

    /** One call, or an array of them. */
    private List<AnswerPiece> parsed(String written) {
        JsonFields wrapped = Json.object(("{\"calls\":" + written + "}").getBytes(StandardCharsets.UTF_8));
        boolean isArray = wrapped.any("calls").filter(JsonNode::isArray).isPresent();
        List<JsonFields> found = isArray
                ? wrapped.objects("calls", MOST_CALLS)
                : List.of(wrapped.object("calls").orElseThrow(() -> wrapped.missing("calls")));
        List<AnswerPiece> pieces = new ArrayList<>();
        for (JsonFields each : found) {
            pieces.add(new Call(calls + pieces.size(), each.requiredString("name"), arguments(each)));
        }
        return pieces;
    }

    /** Llama's word for the arguments is parameters. */
    private static String arguments(JsonFields call) {
        return call.any("arguments")
                .or(() -> call.any("parameters"))
                .map(value -> value.isString() ? value.stringValue() : value.toString())
                .orElse("{}");
    }
}
