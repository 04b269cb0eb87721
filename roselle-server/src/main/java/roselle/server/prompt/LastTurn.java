package roselle.server.prompt;

import java.util.List;
import java.util.Map;
import roselle.api.ChatMessage;
import roselle.api.Prompt;
import roselle.server.http.ApiException;

/** What an API means by a conversation that ends with the assistant's turn: the answer goes on with it. */
public final class LastTurn {
    private LastTurn() {}

    /**
     * The variables that tell the chat template so, if that is so.
     *
     * @throws ApiException if that turn says nothing that an answer could go on with, thoughts at most
     */
    public static Map<String, Object> variables(List<ChatMessage> messages) {
        ChatMessage last = messages.getLast();
        if (!last.role().equals("assistant")) {
            return Map.of();
        }
        if (last.fields().get("content") instanceof String text && text.isBlank()) {
            throw ApiException.invalid(
                    "messages",
                    "messages ends with a turn of the assistant that says nothing: the answer goes on with its text, so"
                            + " leave the turn out, or let a message follow it");
        }
        return Map.of("add_generation_prompt", false, Prompt.Chat.CONTINUE, true);
    }
}
