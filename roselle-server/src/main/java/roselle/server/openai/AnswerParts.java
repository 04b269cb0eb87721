package roselle.server.openai;

import java.util.List;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.Usage;
import roselle.server.chat.AnswerPiece.Call;
import roselle.server.chat.AnswerSplitter;
import roselle.server.http.JsonText;
import roselle.server.http.RequestIds;
import roselle.tokenizer.Tokenizer;

/** The parts that answers of all kinds are made of. */
final class AnswerParts {
    private AnswerParts() {}

    static void usage(JsonText json, Usage usage) {
        openUsage(json, usage);
        json.raw("}");
    }

    /** The usage, with the tokens that the model thought with. */
    static void chatUsage(JsonText json, Usage usage, List<AnswerSplitter> splitters) {
        openUsage(json, usage);
        int thoughts =
                splitters.stream().mapToInt(AnswerSplitter::thoughtTokens).sum();
        json.raw(",\"completion_tokens_details\":{\"reasoning_tokens\":")
                .number(thoughts)
                .raw("}}");
    }

    private static void openUsage(JsonText json, Usage usage) {
        json.raw("{\"prompt_tokens\":")
                .number(usage.promptTokens())
                .raw(",\"completion_tokens\":")
                .number(usage.completionTokens())
                .raw(",\"total_tokens\":")
                .number((long) usage.promptTokens() + usage.completionTokens())
                .raw(",\"prompt_tokens_details\":{\"cached_tokens\":")
                .number(usage.cachedTokens())
                .raw("}");
    }

    /** The usage of prompts one after the other; without the tokens that were generated, where nobody wanted them. */
    static Usage sum(Usage before, Usage more, boolean onlyPrompt) {
        return new Usage(
                before.promptTokens() + more.promptTokens(),
                before.cachedTokens() + more.cachedTokens(),
                before.completionTokens() + (onlyPrompt ? 0 : more.completionTokens()),
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

    /** The reason in quotes; what was cancelled has no reader, but a reason all the same. */
    static String reason(FinishReason reason) {
        return switch (reason) {
            case STOP -> "\"stop\"";
            case LENGTH -> "\"length\"";
            case CANCELLED -> "\"abort\"";
        };
    }

    /** The reason in quotes; an answer that ends in calls is not the last word. */
    static String reason(FinishReason reason, boolean hasCalled) {
        return hasCalled && reason == FinishReason.STOP ? "\"tool_calls\"" : reason(reason);
    }

    /** A call as the API tells it; with its index in streams. */
    static void call(JsonText json, Call call, boolean hasIndex) {
        json.raw("{");
        if (hasIndex) {
            json.raw("\"index\":").number(call.index()).raw(",");
        }
        json.raw("\"id\":\"")
                .raw(RequestIds.next("call_"))
                .raw("\",\"type\":\"function\",\"function\":{\"name\":")
                .string(call.name())
                .raw(",\"arguments\":")
                .string(call.arguments())
                .raw("}}");
    }
}
