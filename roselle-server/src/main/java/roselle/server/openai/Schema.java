package roselle.server.openai;

import java.util.List;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/**
 * The fields of the published schemas that do not reach the engine: accepted where they ask for what happens anyway or change
 * no answer, refused by name otherwise.
 */
final class Schema {
    private Schema() {}

    /** Fields of chat completions and of completions. */
    static void settle(JsonFields fields) {
        fields.string("user"); // tells a provider's users apart; no answer depends on it
        fields.requireDefault("skip_special_tokens", "special tokens are never part of the text", true);
        fields.requireDefault("spaces_between_special_tokens", "special tokens are never part of the text", true);
        fields.requireDefault("include_stop_str_in_output", "a stop string is never part of the text", false);
        fields.requireDefault("use_beam_search", "there is no beam search here", false);
        fields.requireDefault("length_penalty", "there is no beam search here", 1L, 1.0);
        fields.requireDefault("early_stopping", "there is no beam search here", false);
    }

    /** Fields of chat completions alone. */
    static void settleChat(JsonFields fields) {
        fields.string("safety_identifier");
        fields.string("prompt_cache_key"); // each key has one cache
        metadata(fields);
        fields.requireDefault("return_token_ids", "token ids are not told", false);
        fields.requireDefault("return_tokens_as_token_ids", "tokens are told as text", false);
        fields.requireDefault("echo", "a conversation is not echoed", false);
        fields.requireDefault("add_special_tokens", "the chat template adds them", false);
        fields.requireDefault("store", "this server stores no completions", false);
        fields.requireDefault("service_tier", "there is one tier, so it must be auto or default", "auto", "default");
        fields.requireDefault("prompt_cache_retention", "the cache is in memory", "in_memory", "in-memory");
        fields.requireDefault("modalities", "this server answers with text alone", List.of("text"));
        fields.requireDefault("function_call", "use tool_choice", "none", "auto");
        fields.requireDefault("functions", "use tools", List.of());
        fields.requireDefault("audio", "this server answers with text alone");
        fields.requireDefault("prediction", "predicted output is not there");
        fields.requireDefault("web_search_options", "this server searches nothing");
        fields.requireDefault("moderation", "this server moderates nothing");
        fields.requireDefault("prompt_cache_options", "the cache takes no options");
    }

    /** Fields of completions alone. */
    static void settleCompletion(JsonFields fields, int choices) {
        int best = fields.integer("best_of", 1, 128).orElse(choices);
        if (best != choices) {
            throw ApiException.invalid(
                    "best_of",
                    "best_of is " + best + " and n " + choices + ": all answers are returned, so they must be equal");
        }
    }

    private static void metadata(JsonFields fields) {
        fields.object("metadata")
                .ifPresent(metadata -> metadata.plain().forEach((name, value) -> {
                    if (!(value instanceof String)) {
                        throw ApiException.invalid("metadata", "metadata." + name + " is not a string: it must be one");
                    }
                }));
    }
}
