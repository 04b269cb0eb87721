package roselle.server.responses;

import java.io.IOException;
import java.util.List;
import roselle.api.TokenLogprob;
import roselle.server.answer.Logprobs;
import roselle.server.http.JsonText;
import roselle.server.http.SseWriter;

/** A response as events: what is added, each token, what is done, numbered from 0. */
final class ResponseStream {
    private final SseWriter events;
    private final ResponseBody body;
    private long sequence;

    ResponseStream(SseWriter events, ResponseBody body) {
        this.events = events;
        this.body = body;
    }

    /** Says what is coming; this leaves before the first token. */
    void begin() throws IOException {
        response("response.created");
        response("response.in_progress");
        JsonText json = event("response.output_item.added").raw(",\"output_index\":0,\"item\":");
        body.message(json, "in_progress");
        json.raw("}");
        events.end();
        body.part(item("response.content_part.added").raw(",\"part\":"));
        send();
    }

    void token(String text, List<TokenLogprob> scores) throws IOException {
        JsonText json = item("response.output_text.delta")
                .raw(",\"delta\":")
                .string(text)
                .raw(",\"logprobs\":[");
        if (!scores.isEmpty()) {
            Logprobs.write(json, scores);
        }
        json.raw("]");
        send();
    }

    /** Says how all that was begun has ended. */
    void finish() throws IOException {
        item("response.output_text.done").raw(",\"text\":").string(body.text()).raw(",\"logprobs\":[]}");
        events.end();
        JsonText part = item("response.content_part.done").raw(",\"part\":");
        body.part(part);
        part.raw("}");
        events.end();
        JsonText item = event("response.output_item.done").raw(",\"output_index\":0,\"item\":");
        body.message(item, body.endStatus());
        item.raw("}");
        events.end();
        JsonText last = event(body.isIncomplete() ? "response.incomplete" : "response.completed")
                .raw(",\"response\":");
        body.write(last);
        send();
    }

    private void response(String type) {
        JsonText json = event(type).raw(",\"response\":");
        body.write(json);
        json.raw("}");
        events.end();
    }

    private JsonText item(String type) {
        return event(type)
                .raw(",\"item_id\":\"")
                .raw(body.messageId())
                .raw("\",\"output_index\":0,\"content_index\":0");
    }

    private JsonText event(String type) {
        return events.event(type)
                .raw("{\"type\":\"")
                .raw(type)
                .raw("\",\"sequence_number\":")
                .number(sequence++);
    }

    /** Closes the event's object and lets all that waits leave. */
    private void send() throws IOException {
        events.more().raw("}");
        events.send();
    }
}
