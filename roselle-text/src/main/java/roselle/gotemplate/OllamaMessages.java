package roselle.gotemplate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import roselle.gotemplate.value.Slice;
import roselle.gotemplate.value.Spelling;
import roselle.gotemplate.value.Struct;
import roselle.gotemplate.value.Struct.Field;
import roselle.jinja.text.TemplateFault;

/** Messages of a chat as Ollama's templates see them. */
final class OllamaMessages {
    private OllamaMessages() {}

    /** A message, of which neighbours may become a part. */
    record Message(String role, String content, String thinking, List<Object> calls, String toolName, String callId) {
        Message with(String more) {
            return new Message(role, content + "\n\n" + more, thinking, calls, toolName, callId);
        }

        Struct value() {
            return new Struct(
                    "Message",
                    List.of(
                            new Field("Role", "role", false, role),
                            new Field("Content", "content", false, content),
                            new Field("Thinking", "thinking", true, thinking),
                            new Field("Images", "images", true, new Slice(List.of())),
                            new Field("ToolCalls", "tool_calls", true, new Slice(calls)),
                            new Field("ToolName", "tool_name", true, toolName),
                            new Field("ToolCallID", "tool_call_id", true, callId)),
                    Spelling.PLAIN);
        }
    }

    static List<Message> read(@Nullable Object messages) {
        List<Message> read = new ArrayList<>();
        for (Object message : messages instanceof List<?> list ? list : List.of()) {
            read.add(message(GoValues.map(message)));
        }
        return read;
    }

    private static Message message(Map<?, ?> fields) {
        return new Message(
                GoValues.text(fields.get("role")),
                content(fields.get("content")),
                GoValues.text(fields.get("reasoning_content")),
                calls(fields.get("tool_calls")),
                GoValues.text(fields.get("name")),
                GoValues.text(fields.get("tool_call_id")));
    }

    /** A text, or the texts of its parts. */
    private static String content(@Nullable Object content) {
        if (!(content instanceof List<?> parts)) {
            return GoValues.text(content);
        }
        return parts.stream()
                .map(part -> GoValues.text(GoValues.map(part).get("text")))
                .collect(Collectors.joining("\n\n"));
    }

    private static List<Object> calls(@Nullable Object calls) {
        List<Object> read = new ArrayList<>();
        for (Object call : calls instanceof List<?> list ? list : List.of()) {
            read.add(call(GoValues.map(call), read.size()));
        }
        return read;
    }

    private static Struct call(Map<?, ?> call, int index) {
        Map<?, ?> function = GoValues.map(call.get("function"));
        if (!(function.get("arguments") instanceof Map<?, ?> arguments)) {
            throw new TemplateFault("arguments of a call are no object");
        }
        Struct called = new Struct(
                "ToolCallFunction",
                List.of(
                        new Field("Index", "index", false, (long) index),
                        new Field("Name", "name", false, GoValues.text(function.get("name"))),
                        new Field("Arguments", "arguments", false, GoValues.map(arguments, Spelling.JSON_ALONE))),
                Spelling.PLAIN);
        return new Struct(
                "ToolCall",
                List.of(
                        new Field("ID", "id", true, GoValues.text(call.get("id"))),
                        new Field("Function", "function", false, called)),
                Spelling.PLAIN);
    }

    /** All that system messages say. */
    static String system(List<Message> messages) {
        return messages.stream()
                .filter(message -> message.role().equals("system"))
                .map(Message::content)
                .collect(Collectors.joining("\n\n"));
    }

    /** Neighbours of one role as one message; of the first of them is what is no text. Results of tools stay apart. */
    static List<Message> collated(List<Message> messages) {
        List<Message> collated = new ArrayList<>();
        for (Message message : messages) {
            boolean joins = !collated.isEmpty()
                    && collated.getLast().role().equals(message.role())
                    && !message.role().equals("tool");
            if (joins) {
                collated.add(collated.removeLast().with(message.content()));
            } else {
                collated.add(message);
            }
        }
        return collated;
    }
}
