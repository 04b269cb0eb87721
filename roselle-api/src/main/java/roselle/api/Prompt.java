package roselle.api;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import roselle.api.InvalidRequestException.Reason;

/** What a model is asked to continue. */
public sealed interface Prompt {
    /**
     * Plain text.
     *
     * @param text the text
     * @param addSpecial add the tokens that the model expects around a text, such as a beginning of sequence
     * @param parseSpecial read spellings of special tokens in the text as these tokens; false for text from users
     */
    record Text(String text, boolean addSpecial, boolean parseSpecial) implements Prompt {}

    /** Token ids, taken as they are. */
    record Tokens(List<Integer> ids) implements Prompt {
        public Tokens {
            ids = List.copyOf(ids);
        }

        public static Tokens of(int... ids) {
            return new Tokens(Arrays.stream(ids).boxed().toList());
        }
    }

    /**
     * A conversation, which the model's chat template turns into text.
     *
     * @param messages in order
     * @param tools functions that the model may call, in the JSON form of OpenAI's {@code tools}
     * @param variables further variables for the template, such as {@code enable_thinking}; {@link #CONTINUE}, if true, makes
     *     the answer go on with the last message instead of replying to it
     * @param toolUse which of the tools may or must be called
     * @param template in Go's language, as Ollama's models have it, in the place of the model's own; empty for that
     */
    record Chat(
            List<ChatMessage> messages,
            List<Map<String, Object>> tools,
            Map<String, Object> variables,
            ToolUse toolUse,
            String template)
            implements Prompt {
        /** Ends the prompt with the text of the last message. */
        public static final String CONTINUE = "continue_final_message";

        public Chat {
            if (messages.isEmpty()) {
                throw new InvalidRequestException(
                        Reason.INVALID, "messages", "messages is empty: a conversation has at least one message");
            }
            messages = List.copyOf(messages);
            tools = List.copyOf(tools);
            variables = Map.copyOf(variables);
        }

        /** A conversation that the model's own template turns into text. */
        public Chat(
                List<ChatMessage> messages,
                List<Map<String, Object>> tools,
                Map<String, Object> variables,
                ToolUse toolUse) {
            this(messages, tools, variables, toolUse, "");
        }

        /** A conversation whose tools the model calls as it likes. */
        public Chat(List<ChatMessage> messages, List<Map<String, Object>> tools, Map<String, Object> variables) {
            this(messages, tools, variables, ToolUse.AUTO);
        }

        /** The same by a template in Go's language, or the model's own where it is empty. */
        public Chat by(String other) {
            return new Chat(messages, tools, variables, toolUse, other);
        }

        /** The tools that the model hears of. */
        public List<Map<String, Object>> callable() {
            return toolUse.choice() == ToolUse.Choice.NONE ? List.of() : tools;
        }
    }
}
