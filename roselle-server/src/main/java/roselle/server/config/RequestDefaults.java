package roselle.server.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import roselle.api.ChatMessage;
import roselle.api.Prompt;
import roselle.api.SamplingParameters;

/**
 * What a model that was made of another adds to requests that do not say otherwise. A model of the server's own adds nothing.
 *
 * @param adapter what requests to the engine call the adapter; empty for none
 * @param system what the model is told before all else; may be empty
 * @param messages that come before those of a conversation
 * @param template in Go's language, in the place of that of the model; empty for that
 * @param sampling how tokens are drawn, over what holds otherwise
 * @param stops texts before which an answer ends
 * @param maxTokens of an answer
 * @param context tokens that prompt and answer may have together
 */
public record RequestDefaults(
        String adapter,
        String system,
        List<ChatMessage> messages,
        String template,
        UnaryOperator<SamplingParameters> sampling,
        List<String> stops,
        OptionalInt maxTokens,
        OptionalInt context) {
    /** Nothing. */
    public static final RequestDefaults NONE = new RequestDefaults(
            "", "", List.of(), "", UnaryOperator.identity(), List.of(), OptionalInt.empty(), OptionalInt.empty());

    public RequestDefaults {
        messages = List.copyOf(messages);
        stops = List.copyOf(stops);
    }

    /** An adapter, and nothing else. */
    static RequestDefaults ofAdapter(String name) {
        return new RequestDefaults(
                name, "", List.of(), "", UnaryOperator.identity(), List.of(), OptionalInt.empty(), OptionalInt.empty());
    }

    /** Whether a text reaches the model as a turn of a conversation, since it has something to say before it. */
    public boolean makesTurns() {
        return !system.isEmpty() || !messages.isEmpty() || !template.isEmpty();
    }

    /** The same for a conversation that goes on from tokens of an earlier one, in which the messages are. */
    public RequestDefaults goingOn() {
        return new RequestDefaults(adapter, system, List.of(), template, sampling, stops, maxTokens, context);
    }

    /** A conversation with what comes before it: its own system message stands in the place of this one. */
    public Prompt.Chat in(Prompt.Chat asked) {
        String by = asked.template().isEmpty() ? template : asked.template();
        boolean hasSystem = asked.messages().getFirst().role().equals("system");
        List<ChatMessage> turns = new ArrayList<>();
        if (hasSystem) {
            turns.add(asked.messages().getFirst());
        } else if (!system.isEmpty()) {
            turns.add(ChatMessage.system(system));
        }
        turns.addAll(messages);
        turns.addAll(
                asked.messages().subList(hasSystem ? 1 : 0, asked.messages().size()));
        return new Prompt.Chat(turns, asked.tools(), asked.variables(), asked.toolUse(), by);
    }

    /** A text as the user's turn behind what comes before it, if anything does; tokens are the caller's own affair. */
    public Prompt before(Prompt asked) {
        return asked instanceof Prompt.Text text && makesTurns()
                ? in(new Prompt.Chat(List.of(ChatMessage.user(text.text())), List.of(), Map.of()))
                : asked;
    }
}
