package roselle.server.openai;

import java.util.OptionalInt;
import roselle.api.GenerationRequest;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.openai.common.ChatPrompt;
import roselle.server.openai.common.FormatFields;
import roselle.server.openai.common.GenerationFields;
import roselle.server.prompt.EffortFields;

/** Reads the body of a chat completion: each field of the schema is honoured, or refused by name. */
final class ChatReader {
    private final Models models;

    ChatReader(Models models) {
        this.models = models;
    }

    ChatCall read(JsonFields fields) {
        ServedModel model = models.named(fields.string("model"));
        var effort = new EffortFields(model).think(fields, "reasoning_effort").write(fields, "verbosity");
        var prompt = effort.in(ChatPrompt.read(fields, model));
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
                common.scheduling(),
                FormatFields.read(fields, model.engine()));
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
}
