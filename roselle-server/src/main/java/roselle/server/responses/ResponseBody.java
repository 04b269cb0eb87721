package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.ToolUse;
import roselle.api.Usage;
import roselle.server.http.JsonWriter;
import roselle.server.http.RequestIds;
import tools.jackson.databind.json.JsonMapper;

/** The object of a response as it grows: its output, its state, its usage. */
final class ResponseBody {
    private static final JsonMapper MAPPER = new JsonMapper();

    private final String id = RequestIds.next("resp_");
    private final ResponseCall call;
    private final long created;
    private final ResponseOutput output;
    private State state;
    private String failure = "";
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0, 0);

    /** How far it is. */
    private enum State {
        QUEUED("queued"),
        IN_PROGRESS("in_progress"),
        COMPLETED("completed"),
        INCOMPLETE("incomplete"),
        FAILED("failed"),
        CANCELLED("cancelled");

        private final String spelling;

        State(String spelling) {
            this.spelling = spelling;
        }
    }

    ResponseBody(ResponseCall call, long created, ResponseOutput output) {
        this.call = call;
        this.created = created;
        this.output = output;
        state = call.asked().isInBackground() ? State.QUEUED : State.IN_PROGRESS;
    }

    String id() {
        return id;
    }

    ResponseOutput output() {
        return output;
    }

    boolean isIncomplete() {
        return state == State.INCOMPLETE;
    }

    /** Whether its answer is there, as far as it goes. */
    boolean isAnswered() {
        return state == State.COMPLETED || state == State.INCOMPLETE;
    }

    ResponseCall call() {
        return call;
    }

    boolean isQueued() {
        return state == State.QUEUED;
    }

    /** It is no longer queued. */
    void start() {
        state = State.IN_PROGRESS;
    }

    void cancel() {
        state = State.CANCELLED;
    }

    /** @param message what the caller is told */
    void fail(String message) {
        state = State.FAILED;
        failure = message;
    }

    void end(ChoiceEnded end) {
        output.end(end);
        state = end.reason() == FinishReason.STOP ? State.COMPLETED : State.INCOMPLETE;
    }

    void used(Usage value) {
        usage = value;
    }

    /** Writes the object; while the answer is being made it has no output and no usage. */
    void write(JsonWriter json) {
        ResponseCall.Asked asked = call.asked();
        var sampling = call.request().sampling();
        json.object().field("id", id).field("object", "response").field("created_at", created);
        json.field("status", state.spelling).field("background", asked.isInBackground());
        error(json);
        incompleteDetails(json);
        json.fieldOrNull("instructions", asked.instructions().orElse(""));
        if (asked.maxOutputTokens().isPresent()) {
            json.field("max_output_tokens", asked.maxOutputTokens().getAsInt());
        } else {
            json.nullField("max_output_tokens");
        }
        json.nullField("max_tool_calls").field("model", call.model().name());
        items(json.array("output"));
        json.field("parallel_tool_calls", asked.toolUse().isParallel())
                .fieldOrNull("previous_response_id", asked.previousId().orElse(""));
        json.object("reasoning")
                .fieldOrNull("effort", asked.effort().orElse(""))
                .nullField("summary")
                .endObject();
        json.field("service_tier", "default").field("store", call.stores());
        json.field("temperature", (float) sampling.temperature()).field("top_p", (float) sampling.topP());
        json.field("top_logprobs", call.request().output().topLogprobs());
        json.object("text").name("format").json(plain(asked.textFormat())).endObject();
        toolChoice(json, asked.toolUse());
        tools(json.array("tools"), asked.tools());
        json.field("truncation", "disabled").fieldOrNull("user", asked.user().orElse(""));
        json.name("metadata").json(plain(asked.metadata()));
        usage(json);
        json.endObject();
    }

    private static void toolChoice(JsonWriter json, ToolUse use) {
        if (!use.allowed().isEmpty()) {
            json.object("tool_choice").field("type", "allowed_tools");
            json.field("mode", use.choice() == ToolUse.Choice.REQUIRED ? "required" : "auto");
            json.array("tools");
            for (String name : use.allowed()) {
                json.object().field("type", "function").field("name", name).endObject();
            }
            json.endArray().endObject();
            return;
        }
        switch (use.choice()) {
            case AUTO -> json.field("tool_choice", "auto");
            case NONE -> json.field("tool_choice", "none");
            case REQUIRED -> json.field("tool_choice", "required");
            case NAMED ->
                json.object("tool_choice")
                        .field("type", "function")
                        .field("name", use.name())
                        .endObject();
        }
    }

    private void error(JsonWriter json) {
        if (state == State.FAILED) {
            json.object("error")
                    .field("code", "server_error")
                    .field("message", failure)
                    .endObject();
        } else {
            json.nullField("error");
        }
    }

    private void incompleteDetails(JsonWriter json) {
        if (state == State.INCOMPLETE) {
            json.object("incomplete_details")
                    .field("reason", "max_output_tokens")
                    .endObject();
        } else {
            json.nullField("incomplete_details");
        }
    }

    private void items(JsonWriter json) {
        List<OutputItem> items = isAnswered() ? output.items() : List.of();
        for (int index = 0; index < items.size(); index++) {
            items.get(index).write(json, output.status(index));
        }
        json.endArray();
    }

    private static void tools(JsonWriter json, List<Map<String, Object>> tools) {
        for (Map<String, Object> tool : tools) {
            json.object().field("type", "function");
            tool.forEach((name, value) -> json.name(name).json(plain(value)));
            if (!tool.containsKey("parameters")) {
                json.nullField("parameters");
            }
            if (!tool.containsKey("strict")) {
                json.field("strict", false);
            }
            json.endObject();
        }
        json.endArray();
    }

    private static byte[] plain(Object value) {
        return MAPPER.writeValueAsString(value).getBytes(StandardCharsets.UTF_8);
    }

    private void usage(JsonWriter json) {
        if (!isAnswered()) {
            json.nullField("usage");
            return;
        }
        json.object("usage").field("input_tokens", usage.promptTokens());
        json.object("input_tokens_details")
                .field("cached_tokens", usage.cachedTokens())
                .endObject();
        json.field("output_tokens", usage.completionTokens());
        json.object("output_tokens_details")
                .field("reasoning_tokens", usage.reasoningTokens())
                .endObject();
        json.field("total_tokens", (long) usage.promptTokens() + usage.completionTokens())
                .endObject();
    }
}
