package roselle.server.anthropic;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.EffortFields;
import roselle.server.prompt.KeepableFormat;
import roselle.server.prompt.LastTurn;
import roselle.server.prompt.StopStrings;

/** Reads the body of a request for a message, or for a count of tokens: each field is honoured, or refused by name. */
final class MessageReader {
    private static final int LEAST_BUDGET = 1024;

    /** Below how many tokens of thoughts a budget means an effort. */
    private static final int LOW = 4096;

    private static final int MEDIUM = 16_384;

    private static final String EFFORT = "output_config.effort";
    private static final List<String> EFFORTS = List.of("low", "medium", "high", "xhigh", "max");

    /** An edit that keeps all there is, as clients send it by default. */
    private static final Map<String, String> KEEP_THOUGHTS = Map.of("type", "clear_thinking_20251015", "keep", "all");

    /** The effort that is there anyway. */
    private static final String USUAL = "high";

    private final Models models;

    MessageReader(Models models) {
        this.models = models;
    }

    /**
     * A message that was asked for.
     *
     * @param streams whether to answer with events
     */
    record MessageCall(ServedModel model, GenerationRequest request, boolean streams) {}

    /** A conversation whose tokens are to be counted. */
    record Counted(ServedModel model, Prompt prompt) {}

    /** What a message is made from. */
    private record Conversation(Prompt.Chat prompt, ResponseFormat format) {}

    MessageCall read(JsonFields fields) {
        ServedModel model = models.named(fields.string("model"));
        int maxTokens =
                fields.integer("max_tokens", 1, Integer.MAX_VALUE).orElseThrow(() -> fields.missing("max_tokens"));
        Conversation conversation = conversation(fields, model, maxTokens);
        SamplingParameters advice = model.sampling(SamplingParameters.DEFAULT);
        GenerationRequest request = GenerationRequest.builder()
                .prompt(conversation.prompt())
                .format(conversation.format())
                .sampling(advice)
                .temperature(fields.number("temperature", 0, 1).orElse(advice.temperature()))
                .topP(fields.number("top_p", 1e-6, 1).orElse(advice.topP()))
                .topK(fields.integer("top_k", 0, Integer.MAX_VALUE).orElse(advice.topK()))
                .stopStrings(StopStrings.read(fields, "stop_sequences", model))
                .maxTokens(maxTokens)
                .build();
        boolean streams = fields.bool("stream", false);
        settle(fields);
        fields.refuseOthers();
        return new MessageCall(model, request, streams);
    }

    Counted readCount(JsonFields fields) {
        ServedModel model = models.named(fields.string("model"));
        Conversation conversation = conversation(fields, model, Integer.MAX_VALUE);
        fields.refuseOthers();
        return new Counted(model, conversation.prompt());
    }

    /** The fields that counts of tokens have, too. */
    private static Conversation conversation(JsonFields fields, ServedModel model, int maxTokens) {
        var effort = new EffortFields(model);
        Optional<JsonFields> config = fields.object("output_config");
        Optional<String> word = config.flatMap(MessageReader::effortWord);
        ResponseFormat format = config.flatMap(given -> given.object("format"))
                .map(given -> format(given, model))
                .orElse(ResponseFormat.TEXT);
        think(fields, effort, word, maxTokens);
        config.ifPresent(JsonFields::refuseOthers);
        CacheMarks.accept(fields);
        fields.requireDefault("speed", "there is one speed, so it must be standard", "standard");
        List<ChatMessage> messages = ContentBlocks.messages(fields);
        var prompt = new Prompt.Chat(
                messages, ToolFields.tools(fields), LastTurn.variables(messages), ToolFields.choice(fields));
        return new Conversation(effort.in(model.defaults().in(prompt)), format);
    }

    private static ResponseFormat format(JsonFields format, ServedModel model) {
        String type = format.requiredString("type");
        if (!type.equals("json_schema")) {
            throw ApiException.invalid(
                    format.path("type"), format.path("type") + " is " + type + ": it must be json_schema");
        }
        JsonFields schema = format.object("schema").orElseThrow(() -> format.missing("schema"));
        String text = schema.json();
        format.refuseOthers();
        return KeepableFormat.of(model.engine(), schema.path(), () -> new ResponseFormat.JsonSchema(text));
    }

    /**
     * Reads whether the model is to think, and how much. What does not say whether leaves that to the model's chat template, and an
     * effort then is for the thoughts that there are anyway.
     */
    private static void think(JsonFields fields, EffortFields effort, Optional<String> word, int maxTokens) {
        Optional<JsonFields> thinking = fields.object("thinking");
        if (thinking.isEmpty()) {
            word.filter(asked -> !asked.equals(USUAL) || effort.hasWordFor(asked))
                    .ifPresent(asked -> effort.scale(EFFORT, asked));
            return;
        }
        String type = thinking.get().requiredString("type");
        switch (type) {
            case "enabled" -> {
                String byBudget = budget(thinking.get(), maxTokens);
                effort.think("thinking.type", type, word.orElse(byBudget));
            }
            case "disabled" -> {
                effort.think("thinking.type", type, "none");
                word.filter(asked -> !asked.equals(USUAL)).ifPresent(asked -> {
                    throw ApiException.invalid(
                            EFFORT, EFFORT + " is " + asked + ": it says how much to think, and thinking is disabled");
                });
            }
            case "adaptive" ->
                word.filter(asked -> !asked.equals(USUAL) || effort.hasWordFor(asked))
                        .ifPresent(asked -> effort.think(EFFORT, asked, asked));
            default ->
                throw ApiException.invalid(
                        "thinking.type", "thinking.type is " + type + ": it must be enabled, disabled or adaptive");
        }
        settleThinking(thinking.get(), type);
    }

    private static Optional<String> effortWord(JsonFields config) {
        Optional<String> word = config.string("effort");
        word.filter(asked -> !EFFORTS.contains(asked)).ifPresent(asked -> {
            throw ApiException.invalid(
                    EFFORT, EFFORT + " is " + asked + ": it must be one of " + String.join(", ", EFFORTS));
        });
        return word;
    }

    /** The effort that a budget comes to: models are told a word, not a number. */
    private static String budget(JsonFields thinking, int maxTokens) {
        int budget = thinking.integer("budget_tokens", LEAST_BUDGET, Integer.MAX_VALUE)
                .orElseThrow(() -> thinking.missing("budget_tokens"));
        if (budget >= maxTokens) {
            throw ApiException.invalid(
                    thinking.path("budget_tokens"),
                    thinking.path("budget_tokens") + " is " + budget + ": it must be less than max_tokens, which is "
                            + maxTokens);
        }
        return budget < LOW ? "low" : budget < MEDIUM ? "medium" : "high";
    }

    private static void settleThinking(JsonFields thinking, String type) {
        if (!type.equals("disabled")) {
            thinking.requireDefault("display", "thoughts are told as they are, so it must be summarized", "summarized");
        }
        thinking.refuseOthers();
    }

    /** The fields of the published schema that do not reach the engine. */
    private static void settle(JsonFields fields) {
        fields.object("metadata").ifPresent(metadata -> {
            metadata.string("user_id"); // no answer depends on it
            metadata.refuseOthers();
        });
        fields.requireDefault(
                "service_tier", "there is one tier, so it must be auto or standard_only", "auto", "standard_only");
        fields.requireDefault("container", "this server runs no containers");
        fields.requireDefault("inference_geo", "this server is where it is");
        fields.requireDefault("mcp_servers", "this server calls no others", List.of());
        fields.requireDefault(
                AnthropicConventions.THREAD, "this server keeps no conversations, so send all messages without it");
        fields.requireDefault(
                "context_management",
                "a conversation is never cut",
                Map.of("edits", List.of()),
                Map.of("edits", List.of(KEEP_THOUGHTS)));
        fields.requireDefault("diagnostics", "the usage tells what came from the cache");
    }
}
