package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import roselle.api.TokenLogprob;
import roselle.server.answer.Logprobs;
import roselle.server.http.JsonWriter;
import roselle.server.http.RequestIds;

/** An item of a response's output; what is said and thought grows while the item is the last one. */
sealed interface OutputItem {
    String id();

    /** What is said or thought so far, or the arguments of a call. */
    String text();

    /** Writes the item as it is before anything was added to it. */
    void writeEmpty(JsonWriter json);

    /** Writes the item. */
    void write(JsonWriter json, Status status);

    /** How far an item, or a whole response, is. */
    enum Status {
        IN_PROGRESS("in_progress"),
        COMPLETED("completed"),
        INCOMPLETE("incomplete");

        final String spelling;

        Status(String spelling) {
            this.spelling = spelling;
        }
    }

    /** An item with one part of text in it. */
    sealed interface Spoken extends OutputItem {
        StringBuilder builder();

        /** Of the name of events, such as {@code output_text} in {@code response.output_text.delta}. */
        String kind();

        void writePart(JsonWriter json, String text);

        @Override
        default String text() {
            return builder().toString();
        }
    }

    /** Text for the user. */
    record Message(String id, StringBuilder builder, List<List<TokenLogprob>> logprobs) implements Spoken {
        Message() {
            this(RequestIds.next("msg_"), new StringBuilder(), new ArrayList<>());
        }

        @Override
        public String kind() {
            return "output_text";
        }

        @Override
        public void writePart(JsonWriter json, String text) {
            json.object().field("type", "output_text");
            json.array("annotations").endArray().name("logprobs");
            Logprobs.writeAll(json, text.isEmpty() ? List.of() : logprobs);
            json.field("text", text).endObject();
        }

        @Override
        public void writeEmpty(JsonWriter json) {
            open(json, Status.IN_PROGRESS).endArray().endObject();
        }

        @Override
        public void write(JsonWriter json, Status status) {
            writePart(open(json, status), text());
            json.endArray().endObject();
        }

        private JsonWriter open(JsonWriter json, Status status) {
            return head(json, this, "message", status)
                    .field("role", "assistant")
                    .array("content");
        }
    }

    /**
     * What the model thought before it answered.
     *
     * @param isEncoded whether it is told once more in one word, which clients that keep no other form of it send back as it is
     */
    record Thoughts(String id, StringBuilder builder, boolean isEncoded) implements Spoken {
        Thoughts(boolean isEncoded) {
            this(RequestIds.next("rs_"), new StringBuilder(), isEncoded);
        }

        private static String encoded(String thoughts) {
            return Base64.getEncoder().encodeToString(thoughts.getBytes(StandardCharsets.UTF_8));
        }

        /** The thoughts that were {@link #encoded}; throws where a word is none of ours. */
        static String decoded(String word) {
            return new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8);
        }

        @Override
        public String kind() {
            return "reasoning_text";
        }

        @Override
        public void writePart(JsonWriter json, String text) {
            json.object().field("type", "reasoning_text").field("text", text).endObject();
        }

        @Override
        public void writeEmpty(JsonWriter json) {
            open(json, Status.IN_PROGRESS).endArray().endObject();
        }

        @Override
        public void write(JsonWriter json, Status status) {
            writePart(open(json, status), text());
            json.endArray().endObject();
        }

        private JsonWriter open(JsonWriter json, Status status) {
            head(json, this, "reasoning", status);
            if (isEncoded) {
                json.field("encrypted_content", encoded(status == Status.IN_PROGRESS ? "" : text()));
            }
            return json.array("summary").endArray().array("content");
        }
    }

    /** A call of a tool; its arguments grow. */
    record FunctionCall(String id, String callId, String name, StringBuilder builder) implements OutputItem {
        FunctionCall(String callId, String name) {
            this(RequestIds.next("fc_"), callId, name, new StringBuilder());
        }

        @Override
        public String text() {
            return builder.toString();
        }

        @Override
        public void writeEmpty(JsonWriter json) {
            write(json, Status.IN_PROGRESS, "");
        }

        @Override
        public void write(JsonWriter json, Status status) {
            write(json, status, text());
        }

        private void write(JsonWriter json, Status status, String arguments) {
            head(json, this, "function_call", status)
                    .field("call_id", callId)
                    .field("name", name)
                    .field("arguments", arguments)
                    .endObject();
        }
    }

    private static JsonWriter head(JsonWriter json, OutputItem item, String type, Status status) {
        return json.object().field("id", item.id()).field("type", type).field("status", status.spelling);
    }
}
