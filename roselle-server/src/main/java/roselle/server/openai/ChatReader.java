package roselle.server.openai;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/** Reads the body of a chat completion: each field of the schema is honoured, or refused by name. */
final class ChatReader {
    private static final int MOST_TOOLS = 1024;

    private final Models models;

    ChatReader(Models models) {
        this.models = models;
    }

    ChatCall read(JsonFields fields) {
        ServedModel model = models.named(fields.string("model"));
        var prompt = prompt(fields);
        var common = new GenerationFields(fields, model);
        boolean logprobs = fields.bool("logprobs", false);
        int top = fields.integer("top_logprobs", 0, 20).orElse(0);
        if (top > 0 && !logprobs) {
            throw ApiException.invalid("top_logprobs", "top_logprobs is " + top + ", but logprobs is not true");
        }
        var request = new GenerationRequest(
                prompt,
                common.sampling(),
                common.stop(maxTokens(fields)),
                common.output(logprobs, top, false),
                common.scheduling());
        boolean streams = fields.bool("stream", false);
        boolean reportsUsage = StreamOptions.reportsUsage(fields, streams);
        Schema.settle(fields);
        Schema.settleChat(fields);
        fields.refuseOthers();
        return new ChatCall(model, request, streams, reportsUsage);
    }

    private static OptionalInt maxTokens(JsonFields fields) {
        OptionalInt now = fields.integer("max_completion_tokens", 1, Integer.MAX_VALUE);
        OptionalInt before = fields.integer("max_tokens", 1, Integer.MAX_VALUE);
        if (now.isPresent() && before.isPresent() && !now.equals(before)) {
            throw ApiException.invalid(
                    "max_tokens",
                    "max_tokens is " + before.getAsInt() + " and max_completion_tokens " + now.getAsInt()
                            + ": send one of them");
        }
        return now.isPresent() ? now : before;
    }

    private static Prompt.Chat prompt(JsonFields fields) {
        var messages = ChatMessages.read(fields);
        Map<String, Object> variables = new HashMap<>();
        fields.object("chat_template_kwargs")
                .ifPresent(given -> given.plain().forEach((name, value) -> {
                    if (value != null) {
                        variables.put(name, value);
                    }
                }));
        if (fields.has("add_generation_prompt")) {
            variables.put("add_generation_prompt", fields.bool("add_generation_prompt", true));
        }
        List<Map<String, Object>> tools = fields.objects("tools", MOST_TOOLS).stream()
                .map(ChatReader::tool)
                .toList();
        String choice = toolChoice(fields);
        return new Prompt.Chat(messages, choice.equals("none") ? List.of() : tools, variables);
    }

    private static Map<String, Object> tool(JsonFields tool) {
        String type = tool.requiredString("type");
        if (!type.equals("function")) {
            throw ApiException.invalid(tool.path("type"), tool.path("type") + " is " + type + ": it must be function");
        }
        tool.object("function").orElseThrow(() -> tool.missing("function")).requiredString("name");
        return tool.plain();
    }

    private static String toolChoice(JsonFields fields) {
        var choice = fields.any("tool_choice");
        if (choice.isEmpty()) {
            return "auto";
        }
        if (choice.get().isString()
                && List.of("none", "auto").contains(choice.get().stringValue())) {
            return choice.get().stringValue();
        }
        throw ApiException.invalid(
                "tool_choice", "tool_choice forces a call, which this server cannot do: it must be none or auto");
    }
}
