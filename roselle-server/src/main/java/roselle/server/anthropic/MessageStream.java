package roselle.server.anthropic;

import java.io.IOException;
import roselle.server.anthropic.AnswerBlocks.Block;
import roselle.server.anthropic.AnswerBlocks.Call;
import roselle.server.anthropic.AnswerBlocks.Text;
import roselle.server.anthropic.AnswerBlocks.Thoughts;
import roselle.server.http.EventStream;
import roselle.server.http.JsonWriter;

/** A message as events: its beginning, each block with what it grows by, its end. */
final class MessageStream implements AnswerBlocks.Watcher {
    private final EventStream events;

    MessageStream(EventStream events) {
        this.events = events;
    }

    /**
     * Says what is coming; this leaves before the first token. How much of the prompt came from the cache is known later, and told
     * at the end.
     */
    void begin(String id, String model, int promptTokens) throws IOException {
        JsonWriter json = event("message_start");
        MessagesHandler.open(json.object("message"), id, model);
        json.array("content").endArray().nullField("stop_reason").nullField("stop_sequence");
        json.object("usage")
                .field("input_tokens", promptTokens)
                .nullField("cache_creation_input_tokens")
                .nullField("cache_read_input_tokens")
                .field("output_tokens", 0)
                .endObject();
        end(json.endObject());
        end(event("ping"));
        events.send();
    }

    @Override
    public void opened(int index, Block block) {
        JsonWriter json = event("content_block_start").field("index", index);
        block.write(json.name("content_block"), "");
        end(json);
    }

    @Override
    public void grown(int index, Block block, String piece) {
        switch (block) {
            case Text _ -> delta(index, "text_delta", "text", piece);
            case Thoughts _ -> delta(index, "thinking_delta", "thinking", piece);
            case Call _ -> delta(index, "input_json_delta", "partial_json", piece);
        }
    }

    @Override
    public void closed(int index, Block block) {
        if (block instanceof Thoughts thoughts) {
            String signature = AnswerBlocks.signature(thoughts.content().toString());
            delta(index, "signature_delta", "signature", signature);
        }
        end(event("content_block_stop").field("index", index));
    }

    private void delta(int index, String type, String field, String piece) {
        JsonWriter json = event("content_block_delta").field("index", index);
        end(json.object("delta").field("type", type).field(field, piece).endObject());
    }

    /** Says how all of it has ended. */
    void finish(AnswerBlocks blocks) throws IOException {
        JsonWriter json = event("message_delta");
        blocks.writeEnd(json.object("delta"));
        json.endObject();
        blocks.writeUsage(json.name("usage"));
        end(json);
        end(event("message_stop"));
        events.finish();
    }

    /** Lets what was written since the last time leave, if anything was. */
    void send() throws IOException {
        events.send();
    }

    private JsonWriter event(String type) {
        return events.event(type).object().field("type", type);
    }

    private void end(JsonWriter json) {
        json.endObject();
        events.end();
    }
}
