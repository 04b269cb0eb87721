package roselle.server.responses;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.ToolUse;
import roselle.server.config.ServedModel;

/**
 * A response that was asked for.
 *
 * @param conversation the messages before the answer, without the instructions, which hold for one response only
 * @param streams whether to answer with events
 * @param stores whether to keep it for {@code previous_response_id}
 * @param items with which it was asked, where it is stored
 * @param asked what the response repeats of the request
 * @param encodesThoughts whether thoughts come in a form that clients send back as it is, too
 */
record ResponseCall(
        ServedModel model,
        GenerationRequest request,
        List<ChatMessage> conversation,
        boolean streams,
        boolean stores,
        List<KeptItem> items,
        Asked asked,
        boolean encodesThoughts) {
    /**
     * Fields of the request that its response repeats.
     *
     * @param isInBackground whether it is made while nobody waits
     */
    record Asked(
            boolean isInBackground,
            Optional<String> instructions,
            OptionalInt maxOutputTokens,
            Optional<String> previousId,
            List<Map<String, Object>> tools,
            ToolUse toolUse,
            Optional<String> effort,
            Map<String, Object> metadata,
            Optional<String> user,
            Map<String, Object> textFormat) {}
}
