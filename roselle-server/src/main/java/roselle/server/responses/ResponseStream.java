package roselle.server.responses;

import java.io.IOException;
import java.util.List;
import roselle.api.TokenLogprob;
import roselle.server.answer.Logprobs;
import roselle.server.http.JsonText;
import roselle.server.http.SseWriter;
import roselle.server.responses.OutputItem.FunctionCall;
import roselle.server.responses.OutputItem.Spoken;
import roselle.server.responses.OutputItem.Status;

/** A response as events: what is added, each token, what is done, numbered from 0. */
final class ResponseStream implements ResponseOutput.Watcher {
    private final SseWriter events;
    private long sequence;
    private boolean isWaiting;

    ResponseStream(SseWriter events) {
        this.events = events;
    }

    /** Says what is coming; this leaves before the first token. */
    void begin(ResponseBody body) throws IOException {
        response("response.created", body);
        response("response.in_progress", body);
        send();
    }

    @Override
    public void opened(int index, OutputItem item) {
        JsonText json = event("response.output_item.added")
                .raw(",\"output_index\":")
                .number(index)
                .raw(",\"item\":");
        item.writeEmpty(json);
        end();
        if (item instanceof Spoken spoken) {
            spoken.writePart(part("response.content_part.added", index, item).raw(",\"part\":"), "");
            end();
        }
    }

    @Override
    public void grown(int index, OutputItem item, String text, List<TokenLogprob> scores) {
        JsonText json = switch (item) {
            case Spoken spoken -> part("response." + spoken.kind() + ".delta", index, item);
            case FunctionCall _ -> item("response.function_call_arguments.delta", index, item);
        };
        json.raw(",\"delta\":").string(text);
        if (item instanceof OutputItem.Message) {
            Logprobs.writeAll(json.raw(",\"logprobs\":"), scores.isEmpty() ? List.of() : List.of(scores));
        }
        end();
    }

    @Override
    public void closed(int index, OutputItem item, Status status) {
        switch (item) {
            case Spoken spoken -> said(index, spoken);
            case FunctionCall made -> called(index, made);
        }
        item.write(
                event("response.output_item.done")
                        .raw(",\"output_index\":")
                        .number(index)
                        .raw(",\"item\":"),
                status);
        end();
    }

    private void said(int index, Spoken item) {
        JsonText text = part("response." + item.kind() + ".done", index, item)
                .raw(",\"text\":")
                .string(item.text());
        if (item instanceof OutputItem.Message message) {
            Logprobs.writeAll(text.raw(",\"logprobs\":"), message.logprobs());
        }
        end();
        item.writePart(part("response.content_part.done", index, item).raw(",\"part\":"), item.text());
        end();
    }

    private void called(int index, FunctionCall item) {
        item("response.function_call_arguments.done", index, item)
                .raw(",\"name\":")
                .string(item.call().name())
                .raw(",\"arguments\":")
                .string(item.text());
        end();
    }

    /** Says how all of it has ended. */
    void finish(ResponseBody body) throws IOException {
        response(body.isIncomplete() ? "response.incomplete" : "response.completed", body);
        send();
    }

    /** Lets what was written since the last time leave, if anything was. */
    void send() throws IOException {
        if (isWaiting) {
            isWaiting = false;
            events.send();
        }
    }

    private void response(String type, ResponseBody body) {
        body.write(event(type).raw(",\"response\":"));
        end();
    }

    private JsonText part(String type, int index, OutputItem item) {
        return item(type, index, item).raw(",\"content_index\":0");
    }

    private JsonText item(String type, int index, OutputItem item) {
        return event(type)
                .raw(",\"item_id\":\"")
                .raw(item.id())
                .raw("\",\"output_index\":")
                .number(index);
    }

    private JsonText event(String type) {
        return events.event(type)
                .raw("{\"type\":\"")
                .raw(type)
                .raw("\",\"sequence_number\":")
                .number(sequence++);
    }

    private void end() {
        events.more().raw("}");
        events.end();
        isWaiting = true;
    }
}
