package roselle.server.ollama;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.TokenLogprob;
import roselle.api.Usage;
import roselle.server.answer.Logprobs;
import roselle.server.http.JsonWriter;
import roselle.server.ollama.CallReader.Call;
import roselle.server.prompt.CallArguments;

/** An answer in lines: what came since the last one, or all of it in one. */
final class AnswerLines {
    private final Call call;
    private final long loadNanos;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder thoughts = new StringBuilder();
    private final List<ToolCall> calls = new ArrayList<>();
    private final List<List<TokenLogprob>> logprobs = new ArrayList<>();
    private final List<Integer> ids = new ArrayList<>(); // of the whole answer
    private FinishReason reason = FinishReason.CANCELLED;
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0, 0);

    /** @param loadNanos until the model was there to be asked */
    AnswerLines(Call call, long loadNanos) {
        this.call = call;
        this.loadNanos = loadNanos;
    }

    void add(GenerationEvent event) {
        switch (event) {
            case Reasoning thought -> thoughts.append(thought.text());
            case ToolCall made -> calls.add(made);
            case TokenGenerated token -> {
                text.append(token.text());
                ids.add(token.id());
                if (!token.logprobs().isEmpty()) {
                    logprobs.add(token.logprobs());
                }
            }
            case ChoiceEnded end -> {
                text.append(end.text());
                reason = end.reason();
            }
            case Finished finished -> usage = finished.usage();
            case ToolCallStarted _, ToolCallDelta _ -> {} // told when they are complete
            case PromptScored _, Failed _ -> {} // neither asked for nor handed out
        }
    }

    /** Whether there is something that no line has told. */
    boolean hasMore() {
        return !text.isEmpty() || !thoughts.isEmpty() || !calls.isEmpty() || !logprobs.isEmpty();
    }

    /** A line among others. */
    void write(JsonWriter json) {
        content(open(json, call.name())).field("done", false).endObject();
        text.setLength(0);
        thoughts.setLength(0);
        calls.clear();
        logprobs.clear();
    }

    /** The last line, with what the answer took. */
    void writeLast(JsonWriter json, int[] promptIds) {
        content(open(json, call.name())).field("done", true);
        json.field("done_reason", reason == FinishReason.LENGTH ? "length" : "stop");
        if (call.tellsContext()) {
            json.array("context");
            for (int id : promptIds) {
                json.value(id);
            }
            ids.forEach(json::value);
            json.endArray();
        }
        durations(json);
        json.endObject();
    }

    /** In nanoseconds: until the model was there and a step worked on it, until its first token, and the rest. */
    private void durations(JsonWriter json) {
        long first = usage.firstTokenNanos() == 0 ? usage.totalNanos() : usage.firstTokenNanos();
        json.field("total_duration", loadNanos + usage.totalNanos())
                .field("load_duration", loadNanos + usage.queueNanos())
                .field("prompt_eval_count", usage.promptTokens())
                .field("prompt_eval_duration", Math.max(0, first - usage.queueNanos()))
                .field("eval_count", usage.completionTokens())
                .field("eval_duration", usage.totalNanos() - first);
    }

    /** The line for who asked for nothing but that the model is loaded, or unloaded. */
    static void writeDone(JsonWriter json, String model, boolean isChat, String reason) {
        open(json, model);
        if (isChat) {
            json.object("message")
                    .field("role", "assistant")
                    .field("content", "")
                    .endObject();
        } else {
            json.field("response", "");
        }
        json.field("done", true).field("done_reason", reason).endObject();
    }

    private static JsonWriter open(JsonWriter json, String model) {
        return json.object()
                .field("model", model)
                .field("created_at", Instant.now().toString());
    }

    private JsonWriter content(JsonWriter json) {
        if (call.isChat()) {
            json.object("message").field("role", "assistant").field("content", text.toString());
        } else {
            json.field("response", text.toString());
        }
        if (!thoughts.isEmpty()) {
            json.field("thinking", thoughts.toString());
        }
        if (call.isChat()) {
            toolCalls(json);
            json.endObject();
        }
        if (!logprobs.isEmpty()) {
            Logprobs.writeAll(json.name("logprobs"), logprobs);
        }
        return json;
    }

    private void toolCalls(JsonWriter json) {
        if (calls.isEmpty()) {
            return;
        }
        json.array("tool_calls");
        for (ToolCall made : calls) {
            json.object().field("id", made.id()).object("function");
            json.field("index", made.index()).field("name", made.name());
            CallArguments.write(json.name("arguments"), made.arguments());
            json.endObject().endObject();
        }
        json.endArray();
    }
}
