package roselle.server.responses;

import java.io.IOException;
import java.util.List;
import roselle.api.TokenLogprob;
import roselle.server.answer.Logprobs;
import roselle.server.http.EventStream;
import roselle.server.http.JsonWriter;
import roselle.server.responses.OutputItem.FunctionCall;
import roselle.server.responses.OutputItem.Spoken;
import roselle.server.responses.OutputItem.Status;

/** A response as events: what is added, each token, what is done, numbered from 0. */
final class ResponseStream implements ResponseOutput.Watcher {
    private final EventStream events;
    private long sequence;

    ResponseStream(EventStream events) {
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
        JsonWriter json = event("response.output_item.added").field("output_index", index);
        item.writeEmpty(json.name("item"));
        end(json);
        if (item instanceof Spoken spoken) {
            part("response.content_part.added", index, spoken, "");
        }
    }

    @Override
    public void grown(int index, OutputItem item, String text, List<TokenLogprob> scores) {
        JsonWriter json = switch (item) {
            case Spoken spoken -> inPart("response." + spoken.kind() + ".delta", index, spoken);
            case FunctionCall _ -> item("response.function_call_arguments.delta", index, item);
        };
        json.field("delta", text);
        if (item instanceof OutputItem.Message) {
            Logprobs.writeAll(json.name("logprobs"), scores.isEmpty() ? List.of() : List.of(scores));
        }
        end(json);
    }

    @Override
    public void closed(int index, OutputItem item, Status status) {
        switch (item) {
            case Spoken spoken -> said(index, spoken);
            case FunctionCall made -> called(index, made);
        }
        JsonWriter json = event("response.output_item.done").field("output_index", index);
        item.write(json.name("item"), status);
        end(json);
    }

    private void said(int index, Spoken item) {
        JsonWriter json =
                inPart("response." + item.kind() + ".done", index, item).field("text", item.text());
        if (item instanceof OutputItem.Message message) {
            Logprobs.writeAll(json.name("logprobs"), message.logprobs());
        }
        end(json);
        part("response.content_part.done", index, item, item.text());
    }

    private void called(int index, FunctionCall item) {
        end(item("response.function_call_arguments.done", index, item)
                .field("name", item.name())
                .field("arguments", item.text()));
    }

    /** Says how all of it has ended. */
    void finish(ResponseBody body) throws IOException {
        response(body.isIncomplete() ? "response.incomplete" : "response.completed", body);
        events.finish();
    }

    /** Lets what was written since the last time leave, if anything was. */
    void send() throws IOException {
        events.send();
    }

    private void response(String type, ResponseBody body) {
        JsonWriter json = event(type);
        body.write(json.name("response"));
        end(json);
    }

    /** A whole event of the one part of an item. */
    private void part(String type, int index, Spoken item, String text) {
        JsonWriter json = inPart(type, index, item);
        item.writePart(json.name("part"), text);
        end(json);
    }

    private JsonWriter inPart(String type, int index, Spoken item) {
        return item(type, index, item).field("content_index", 0);
    }

    private JsonWriter item(String type, int index, OutputItem item) {
        return event(type).field("item_id", item.id()).field("output_index", index);
    }

    private JsonWriter event(String type) {
        return events.event(type).object().field("type", type).field("sequence_number", sequence++);
    }

    private void end(JsonWriter json) {
        json.endObject();
        events.end();
    }
}
