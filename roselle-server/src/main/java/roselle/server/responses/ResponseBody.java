package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import roselle.api.FinishReason;
import roselle.api.TokenLogprob;
import roselle.api.Usage;
import roselle.server.answer.Logprobs;
import roselle.server.http.JsonText;
import roselle.server.http.RequestIds;
import tools.jackson.databind.json.JsonMapper;

/** The object of a response as it grows: its text, its log-probabilities, its state. */
final class ResponseBody {
    private static final JsonMapper MAPPER = new JsonMapper();

    private final String id = RequestIds.next("resp_");
    private final String messageId = RequestIds.next("msg_");
    private final ResponseCall call;
    private final long created;
    private final StringBuilder text = new StringBuilder();
    private final List<List<TokenLogprob>> logprobs = new ArrayList<>();
    private State state = State.IN_PROGRESS;
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0);

    private enum State {
        IN_PROGRESS("in_progress"),
        COMPLETED("completed"),
        INCOMPLETE("incomplete");

        final String spelling;

        State(String spelling) {
            this.spelling = spelling;
        }
    }

    ResponseBody(ResponseCall call, long created) {
        this.call = call;
        this.created = created;
    }

    String id() {
        return id;
    }

    String messageId() {
        return messageId;
    }

    String text() {
        return text.toString();
    }

    boolean isIncomplete() {
        return state == State.INCOMPLETE;
    }

    void add(String piece, List<TokenLogprob> scores) {
        text.append(piece);
        if (!scores.isEmpty()) {
            logprobs.add(scores);
        }
    }

    void end(FinishReason reason) {
        state = reason == FinishReason.STOP ? State.COMPLETED : State.INCOMPLETE;
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
                .raw(state == State.INCOMPLETE ? "{\"reason\":\"max_output_tokens\"}" : "null");
        json.raw(",\"instructions\":").stringOrNull(asked.instructions().orElse(""));
        json.raw(",\"max_output_tokens\":")
                .raw(
                        asked.maxOutputTokens().isPresent()
                                ? "" + asked.maxOutputTokens().getAsInt()
                                : "null");
        json.raw(",\"max_tool_calls\":null,\"model\":").string(call.model().name());
        json.raw(",\"output\":[");
        if (state != State.IN_PROGRESS) {
            message(json, state.spelling);
        }
        json.raw("],\"parallel_tool_calls\":true,\"previous_response_id\":")
                .stringOrNull(asked.previousId().orElse(""));
        json.raw(",\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":")
                .raw(Boolean.toString(call.stores()));
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
        if (state == State.IN_PROGRESS) {
            json.raw("null");
            return;
        }
        json.raw("{\"input_tokens\":").number(usage.promptTokens());
        json.raw(",\"input_tokens_details\":{\"cached_tokens\":").number(usage.cachedTokens());
        json.raw("},\"output_tokens\":").number(usage.completionTokens());
        json.raw(",\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":")
                .number((long) usage.promptTokens() + usage.completionTokens())
                .raw("}");
    }

    /** The one item of the output. */
    void message(JsonText json, String status) {
        json.raw("{\"id\":\"")
                .raw(messageId)
                .raw("\",\"type\":\"message\",\"status\":\"")
                .raw(status);
        json.raw("\",\"role\":\"assistant\",\"content\":[");
        if (!status.equals(State.IN_PROGRESS.spelling)) {
            part(json);
        }
        json.raw("]}");
    }

    /** The status that the message ends with. */
    String endStatus() {
        return state.spelling;
    }

    /** The one part of the message, with the text so far. */
    void part(JsonText json) {
        json.raw("{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[");
        String separator = "";
        for (List<TokenLogprob> token : logprobs) {
            Logprobs.write(json.raw(separator), token);
            separator = ",";
        }
        json.raw("],\"text\":").string(text.toString()).raw("}");
    }
}
