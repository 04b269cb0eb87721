package roselle.server.openai;

import roselle.api.FinishReason;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.Usage;
import roselle.server.http.JsonWriter;
import roselle.tokenizer.Tokenizer;

/** The parts that answers of all kinds are made of. */
final class AnswerParts {
    private AnswerParts() {}

    static void usage(JsonWriter json, Usage usage) {
        openUsage(json, usage).endObject();
    }

    /** The usage, with the tokens that the model thought with. */
    static void chatUsage(JsonWriter json, Usage usage) {
        openUsage(json, usage)
                .object("completion_tokens_details")
                .field("reasoning_tokens", usage.reasoningTokens())
                .endObject()
                .endObject();
    }

    private static JsonWriter openUsage(JsonWriter json, Usage usage) {
        return json.object()
                .field("prompt_tokens", usage.promptTokens())
                .field("completion_tokens", usage.completionTokens())
                .field("total_tokens", (long) usage.promptTokens() + usage.completionTokens())
                .object("prompt_tokens_details")
                .field("cached_tokens", usage.cachedTokens())
                .endObject();
    }

    /** The usage of prompts one after the other; without the tokens that were generated, where nobody wanted them. */
    static Usage sum(Usage before, Usage more, boolean onlyPrompt) {
        return new Usage(
                before.promptTokens() + more.promptTokens(),
                before.cachedTokens() + more.cachedTokens(),
                before.completionTokens() + (onlyPrompt ? 0 : more.completionTokens()),
                0,
                more.queueNanos(),
                more.firstTokenNanos(),
                more.totalNanos());
    }

    /** Puts a prompt's own tokens first; the very first has no probability. */
    static void scored(LogprobLists lists, PromptScored scored, Tokenizer tokenizer) {
        for (int position = 0; position < scored.ids().size(); position++) {
            String text = tokenizer.decode(new int[] {scored.ids().get(position)}, false);
            lists.add(text, scored.logprobs().get(position));
        }
    }

    /** The reason; what was cancelled has no reader, but a reason all the same. */
    static String reason(FinishReason reason) {
        return switch (reason) {
            case STOP -> "stop";
            case LENGTH -> "length";
            case CANCELLED -> "abort";
        };
    }

    /** The reason; an answer that ends in calls is not the last word. */
    static String reason(FinishReason reason, boolean hasCalled) {
        return hasCalled && reason == FinishReason.STOP ? "tool_calls" : reason(reason);
    }

    /** The members of a call as the API tells it. */
    static void call(JsonWriter json, String id, String name, String arguments) {
        json.field("id", id)
                .field("type", "function")
                .object("function")
                .field("name", name)
                .field("arguments", arguments)
                .endObject();
    }
}
