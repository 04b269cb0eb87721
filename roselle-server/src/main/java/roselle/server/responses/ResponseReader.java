package roselle.server.responses;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.api.ToolUse;
import roselle.engine.Engine;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.openai.common.ChatPrompt;
import roselle.server.openai.common.FormatFields;
import roselle.server.openai.common.GenerationFields;
import roselle.server.openai.common.ToolUseFields;
import roselle.server.prompt.EffortFields;
import roselle.server.prompt.FunctionTool;

/** Reads the body of a request for a response: each field of the schema is honoured, or refused by name. */
final class ResponseReader {
    private static final int MAX_TOOLS = 1024;
    private static final String LOGPROBS = "message.output_text.logprobs";
    private static final String THOUGHTS = "reasoning.encrypted_content";

    private final Models models;
    private final ResponseStore store;

    ResponseReader(Models models, ResponseStore store) {
        this.models = models;
        this.store = store;
    }

    /**
     * Reads a request.
     *
     * @param key whose it is: only that key's responses can be gone on from
     */
    ResponseCall read(JsonFields fields, String key) {
        ServedModel model = models.named(fields.string("model"));
        Optional<String> previousId = fields.string("previous_response_id");
        List<ChatMessage> conversation = new ArrayList<>();
        previousId.ifPresent(id -> conversation.addAll(store.answered(id, key).conversation()));
        conversation.addAll(InputItems.read(fields));
        Optional<String> instructions = fields.string("instructions");
        ToolUse toolUse = ToolUseFields.read(fields);
        List<Map<String, Object>> tools = model.engine()
                .strictWherePossible(fields.objects("tools", MAX_TOOLS).stream()
                        .map(ResponseReader::function)
                        .toList());
        List<Map<String, Object>> known = tools.stream().map(FunctionTool::of).toList();
        var effort = new EffortFields(model);
        Optional<String> asksThoughts = reasoning(fields, effort);
        Text text = text(fields, effort, model.engine());
        var turns = new Prompt.Chat(messages(instructions, conversation), known, variables(fields), toolUse);
        var prompt = effort.in(model.defaults().in(turns));
        OptionalInt maxTokens = fields.integer("max_output_tokens", 1, Integer.MAX_VALUE);
        var common = new GenerationFields(fields, model);
        boolean logprobs = fields.strings("include", 16).contains(LOGPROBS);
        int top = fields.integer("top_logprobs", 0, 20).orElse(0);
        var request = new GenerationRequest(
                prompt,
                common.sampling(),
                common.stop(maxTokens),
                common.output(logprobs || top > 0, top, false),
                common.scheduling(),
                text.format());
        boolean streams = fields.bool("stream", false);
        boolean stores = fields.bool("store", true);
        var asked = new ResponseCall.Asked(
                background(fields, streams, stores),
                instructions,
                maxTokens,
                previousId,
                tools,
                toolUse,
                asksThoughts,
                metadata(fields),
                fields.string("user"),
                text.asked());
        settle(fields, streams);
        fields.refuseOthers();
        List<KeptItem> items = stores ? fields.any("input").map(KeptItem::of).orElse(List.of()) : List.of();
        boolean encodesThoughts = fields.strings("include", 16).contains(THOUGHTS);
        return new ResponseCall(model, request, conversation, streams, stores, items, asked, encodesThoughts);
    }

    private static List<ChatMessage> messages(Optional<String> instructions, List<ChatMessage> conversation) {
        var messages = new ArrayList<ChatMessage>();
        instructions.ifPresent(text -> messages.add(ChatMessage.system(text)));
        messages.addAll(conversation);
        return messages;
    }

    private static Map<String, Object> function(JsonFields tool) {
        String type = tool.requiredString("type");
        if (!type.equals("function")) {
            throw ApiException.invalid(
                    tool.path("type"), tool.path("type") + " is no function: this server has no other tools");
        }
        boolean saysStrict = tool.has("strict");
        Map<String, Object> function = ChatPrompt.function(tool);
        if (saysStrict) {
            function.putIfAbsent("strict", false);
        }
        return function;
    }

    private static Map<String, Object> variables(JsonFields fields) {
        Map<String, Object> variables = new HashMap<>();
        fields.object("chat_template_kwargs")
                .ifPresent(given -> given.plain().forEach((name, value) -> {
                    if (value != null) {
                        variables.put(name, value);
                    }
                }));
        return variables;
    }

    private static Map<String, Object> metadata(JsonFields fields) {
        Map<String, Object> metadata =
                fields.object("metadata").map(JsonFields::plain).orElse(Map.of());
        metadata.forEach((name, value) -> {
            if (!(value instanceof String)) {
                throw ApiException.invalid("metadata", "metadata." + name + " is not a string: it must be one");
            }
        });
        return metadata;
    }

    private static boolean background(JsonFields fields, boolean streams, boolean stores) {
        boolean isInBackground = fields.bool("background", false);
        if (isInBackground && streams) {
            throw ApiException.invalid(
                    "stream",
                    "a response in the background is not streamed: ask for it by its id, and leave stream out");
        }
        if (isInBackground && !stores) {
            throw ApiException.invalid(
                    "store", "a response in the background is kept until it is asked for, so store must be true");
        }
        return isInBackground;
    }

    /** The fields of the published schema that do not reach the engine. */
    private static void settle(JsonFields fields, boolean streams) {
        fields.string("safety_identifier");
        fields.string("prompt_cache_key"); // each key has one cache
        fields.requireDefault("conversation", "use previous_response_id");
        fields.requireDefault("prompt", "this server keeps no prompt templates");
        fields.requireDefault("max_tool_calls", "this server calls no tools itself");
        fields.requireDefault("service_tier", "there is one tier, so it must be auto or default", "auto", "default");
        fields.requireDefault("prompt_cache_retention", "the cache is in memory", "in_memory", "in-memory");
        fields.requireDefault("truncation", "a conversation is never cut, so it must be disabled", "disabled");
        fields.requireDefault("n", "there is one answer", 1L);
        fields.requireDefault("context_management", "a conversation is never cut");
        fields.requireDefault("moderation", "this server moderates nothing");
        fields.requireDefault("prompt_cache_options", "the cache takes no options");
        fields.requireDefault("access_programs", "there are none here");
        fields.requireDefault("image", "this server answers with text alone");
        fields.accept("client_metadata"); // a program's notes to itself
        for (String each : fields.strings("include", 16)) {
            if (!each.equals(LOGPROBS) && !each.equals(THOUGHTS)) {
                throw ApiException.invalid("include", "include can be " + LOGPROBS + " and " + THOUGHTS + " alone");
            }
        }
        settleStream(fields, streams);
    }

    /** Reads how much to think, which the response repeats. Thoughts are told as they are, without a summary. */
    private static Optional<String> reasoning(JsonFields fields, EffortFields effort) {
        Optional<JsonFields> reasoning = fields.object("reasoning");
        reasoning.ifPresent(given -> {
            effort.think(given, "effort");
            given.requireDefault("summary", "thoughts are not summed up, but told as they are", "auto");
            given.requireDefault("generate_summary", "thoughts are not summed up, but told as they are", "auto");
            given.requireDefault("context", "the chat template decides which thoughts it repeats", "auto");
            given.requireDefault("mode", "there is one mode, so leave it out");
            given.refuseOthers();
        });
        return reasoning.flatMap(given -> given.string("effort"));
    }

    /** What the text must look like, and how that was said. */
    private record Text(ResponseFormat format, Map<String, Object> asked) {}

    private static Text text(JsonFields fields, EffortFields effort, Engine engine) {
        Optional<JsonFields> text = fields.object("text");
        text.ifPresent(given -> effort.write(given, "verbosity"));
        Optional<JsonFields> format = text.flatMap(given -> given.object("format"));
        text.ifPresent(JsonFields::refuseOthers);
        Map<String, Object> asked = new LinkedHashMap<>(Map.of("type", "text"));
        ResponseFormat read =
                format.map(given -> FormatFields.readText(given, engine)).orElse(ResponseFormat.TEXT);
        format.ifPresent(given -> asked.putAll(given.plain()));
        return new Text(read, asked);
    }

    private static void settleStream(JsonFields fields, boolean streams) {
        fields.object("stream_options").ifPresent(options -> {
            if (!streams) {
                throw ApiException.invalid("stream_options", "stream_options is only for requests with stream: true");
            }
            options.requireDefault("include_obfuscation", "this server adds none, so it must be false", false);
            options.refuseOthers();
        });
    }
}
