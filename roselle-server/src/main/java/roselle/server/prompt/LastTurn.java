package roselle.server.prompt;

import java.util.List;
import java.util.Map;
import roselle.api.ChatMessage;
import roselle.api.Prompt;

/** What an API means by a conversation that ends with the assistant's turn: the answer goes on with it. */
public final class LastTurn {
    private LastTurn() {}

    /** The variables that tell the chat template so, if that is so. */
    public static Map<String, Object> variables(List<ChatMessage> messages) {
        return messages.getLast().role().equals("assistant")
                ? Map.of("add_generation_prompt", false, Prompt.Chat.CONTINUE, true)
                : Map.of();
    }
}
