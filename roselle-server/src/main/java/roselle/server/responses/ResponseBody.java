package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.Usage;
import roselle.server.http.JsonText;
import roselle.server.http.RequestIds;
import roselle.server.responses.OutputItem.Status;
import tools.jackson.databind.json.JsonMapper;

/** The object of a response as it grows: its output, its state, its usage. */
final class ResponseBody {
    private static final JsonMapper MAPPER = new JsonMapper();

    private final String id = RequestIds.next("resp_");
    private final ResponseCall call;
    private final long created;
    private final ResponseOutput output;
    private Status state = Status.IN_PROGRESS;
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0);

    ResponseBody(ResponseCall call, long created, ResponseOutput output) {
        this.call = call;
        this.created = created;
        this.output = output;
    }

    String id() {
        return id;
    }

    ResponseOutput output() {
        return output;
    }

    boolean isIncomplete() {
        return state == Status.INCOMPLETE;
    }

    void end(ChoiceEnded end) {
        output.end(end);
        state = end.reason() == FinishReason.STOP ? Status.COMPLETED : Status.INCOMPLETE;
    }

    void used(Usage value) {
        usage = value;
    }

    /** Writes the object; while the answer is being made it has no output and no usage. */
    void write(JsonText json) {
        ResponseCall.Asked asked = call.asked();
        var sampling = call.request().sampling();
        json.raw("{\"id\":\"")
                .raw(id)
                .raw("\",\"object\":\"response\",\"created_at\":")
                .number(created);
        json.raw(",\"status\":\"").raw(state.spelling).raw("\",\"background\":false,\"error\":null");
        json.raw(",\"incomplete_details\":")
                .raw(state == Status.INCOMPLETE ? "{\"reason\":\"max_output_tokens\"}" : "null");
        json.raw(",\"instructions\":").stringOrNull(asked.instructions().orElse(""));
        json.raw(",\"max_output_tokens\":")
                .raw(
                        asked.maxOutputTokens().isPresent()
                                ? "" + asked.maxOutputTokens().getAsInt()
                                : "null");
        json.raw(",\"max_tool_calls\":null,\"model\":").string(call.model().name());
        json.raw(",\"output\":[");
        if (state != Status.IN_PROGRESS) {
            items(json);
        }
        json.raw("],\"parallel_tool_calls\":true,\"previous_response_id\":")
                .stringOrNull(asked.previousId().orElse(""));
        json.raw(",\"reasoning\":{\"effort\":").stringOrNull(asked.effort().orElse(""));
        json.raw(",\"summary\":null},\"service_tier\":\"default\",\"store\":").raw(Boolean.toString(call.stores()));
        json.raw(",\"temperature\":").number((float) sampling.temperature());
        json.raw(",\"top_p\":").number((float) sampling.topP());
        json.raw(",\"top_logprobs\":").number(call.request().output().topLogprobs());
        json.raw(",\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":").string(asked.toolChoice());
        tools(json.raw(",\"tools\":["), asked.tools());
        json.raw(",\"truncation\":\"disabled\",\"user\":")
                .stringOrNull(asked.user().orElse(""));
        json.raw(",\"metadata\":").raw(plain(asked.metadata())).raw(",\"usage\":");
        usage(json);
        json.raw("}");
    }

    private void items(JsonText json) {
        List<OutputItem> items = output.items();
        for (int index = 0; index < items.size(); index++) {
            items.get(index).write(json.raw(index == 0 ? "" : ","), output.status(index));
        }
    }

    private static void tools(JsonText json, List<Map<String, Object>> tools) {
        String separator = "{\"type\":\"function\",";
        for (Map<String, Object> tool : tools) {
            byte[] members = plain(tool);
            json.raw(separator).raw(Arrays.copyOfRange(members, 1, members.length - 1));
            json.raw(tool.containsKey("parameters") ? "" : ",\"parameters\":null")
                    .raw(",\"strict\":false}");
            separator = ",{\"type\":\"function\",";
        }
        json.raw("]");
    }

    private static byte[] plain(Object value) {
        return MAPPER.writeValueAsString(value).getBytes(StandardCharsets.UTF_8);
    }

    private void usage(JsonText json) {
        if (state == Status.IN_PROGRESS) {
            json.raw("null");
            return;
        }
        json.raw("{\"input_tokens\":").number(usage.promptTokens());
        json.raw(",\"input_tokens_details\":{\"cached_tokens\":").number(usage.cachedTokens());
        json.raw("},\"output_tokens\":").number(usage.completionTokens());
        json.raw(",\"output_tokens_details\":{\"reasoning_tokens\":").number(output.thoughtTokens());
        json.raw("},\"total_tokens\":")
                .number((long) usage.promptTokens() + usage.completionTokens())
                .raw("}");
    }
}
