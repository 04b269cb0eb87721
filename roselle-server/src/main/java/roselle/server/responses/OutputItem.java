package roselle.server.responses;

import java.util.ArrayList;
import java.util.List;
import roselle.api.TokenLogprob;
import roselle.server.answer.Logprobs;
import roselle.server.chat.AnswerPiece.Call;
import roselle.server.http.JsonText;
import roselle.server.http.RequestIds;

/** An item of a response's output; what is said and thought grows while the item is the last one. */
sealed interface OutputItem {
    String id();

    /** What is said or thought so far, or the arguments of a call. */
    String text();

    /** Writes the item as it is before anything was added to it. */
    void writeEmpty(JsonText json);

    /** Writes the item. */
    void write(JsonText json, Status status);

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

        void writePart(JsonText json, String text);

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
        public void writePart(JsonText json, String text) {
            json.raw("{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":");
            Logprobs.writeAll(json, text.isEmpty() ? List.of() : logprobs);
            json.raw(",\"text\":").string(text).raw("}");
        }

        @Override
        public void writeEmpty(JsonText json) {
            open(json, Status.IN_PROGRESS).raw("]}");
        }

        @Override
        public void write(JsonText json, Status status) {
            writePart(open(json, status), text());
            json.raw("]}");
        }

        private JsonText open(JsonText json, Status status) {
            head(json, this, "message", status);
            return json.raw(",\"role\":\"assistant\",\"content\":[");
        }
    }

    /** What the model thought before it answered. */
    record Thoughts(String id, StringBuilder builder) implements Spoken {
        Thoughts() {
            this(RequestIds.next("rs_"), new StringBuilder());
        }

        @Override
        public String kind() {
            return "reasoning_text";
        }

        @Override
        public void writePart(JsonText json, String text) {
            json.raw("{\"type\":\"reasoning_text\",\"text\":").string(text).raw("}");
        }

        @Override
        public void writeEmpty(JsonText json) {
            open(json, Status.IN_PROGRESS).raw("]}");
        }

        @Override
        public void write(JsonText json, Status status) {
            writePart(open(json, status), text());
            json.raw("]}");
        }

        private JsonText open(JsonText json, Status status) {
            head(json, this, "reasoning", status);
            return json.raw(",\"summary\":[],\"content\":[");
        }
    }

    /** A call of a tool, complete from the beginning. */
    record FunctionCall(String id, String callId, Call call) implements OutputItem {
        FunctionCall(Call call) {
            this(RequestIds.next("fc_"), RequestIds.next("call_"), call);
        }

        @Override
        public String text() {
            return call.arguments();
        }

        @Override
        public void writeEmpty(JsonText json) {
            write(json, Status.IN_PROGRESS, "");
        }

        @Override
        public void write(JsonText json, Status status) {
            write(json, status, call.arguments());
        }

        private void write(JsonText json, Status status, String arguments) {
            head(json, this, "function_call", status);
            json.raw(",\"call_id\":\"").raw(callId).raw("\",\"name\":").string(call.name());
            json.raw(",\"arguments\":").string(arguments).raw("}");
        }
    }

    private static void head(JsonText json, OutputItem item, String type, Status status) {
        json.raw("{\"id\":\"").raw(item.id()).raw("\",\"type\":\"").raw(type);
        json.raw("\",\"status\":\"").raw(status.spelling).raw("\"");
    }
}
