package roselle.server.openai;

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

/** A chat completion that is told as a whole. */
final class ChatAnswer {
    private static final class Choice {
        final StringBuilder text = new StringBuilder();
        final StringBuilder thoughts = new StringBuilder();
        final List<ToolCall> calls = new ArrayList<>();
        final List<List<TokenLogprob>> logprobs = new ArrayList<>();
        FinishReason reason = FinishReason.CANCELLED;
    }

    private final List<Choice> choices = new ArrayList<>();
    private final boolean hasLogprobs;
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0, 0);

    ChatAnswer(ChatCall call) {
        hasLogprobs = call.request().output().logprobs();
        for (int choice = 0; choice < call.request().output().choices(); choice++) {
            choices.add(new Choice());
        }
    }

    void add(GenerationEvent event) {
        switch (event) {
            case Reasoning thought -> choices.get(thought.choice()).thoughts.append(thought.text());
            case ToolCall call -> choices.get(call.choice()).calls.add(call);
            case TokenGenerated token -> {
                Choice choice = choices.get(token.choice());
                choice.text.append(token.text());
                if (hasLogprobs) {
                    choice.logprobs.add(token.logprobs());
                }
            }
            case ChoiceEnded end -> {
                Choice choice = choices.get(end.choice());
                choice.text.append(end.text());
                choice.reason = end.reason();
            }
            case Finished finished -> usage = finished.usage();
            case ToolCallStarted _, ToolCallDelta _ -> {} // told when they are complete
            case PromptScored _, Failed _ -> {} // neither asked for nor handed out
        }
    }

    JsonWriter body(AnswerHead head) {
        JsonWriter json = head.open(new JsonWriter(), "chat.completion").array("choices");
        for (int index = 0; index < choices.size(); index++) {
            choice(json, index);
        }
        json.endArray();
        AnswerParts.chatUsage(json.name("usage"), usage);
        return json.endObject();
    }

    private void choice(JsonWriter json, int index) {
        Choice choice = choices.get(index);
        json.object().field("index", index);
        message(json.name("message"), choice);
        logprobs(json.name("logprobs"), choice);
        json.field("finish_reason", AnswerParts.reason(choice.reason, !choice.calls.isEmpty()))
                .endObject();
    }

    private static void message(JsonWriter json, Choice choice) {
        json.object().field("role", "assistant");
        if (choice.text.isEmpty() && !choice.calls.isEmpty()) {
            json.nullField("content");
        } else {
            json.field("content", choice.text.toString());
        }
        if (!choice.thoughts.isEmpty()) {
            json.field("reasoning_content", choice.thoughts.toString());
        }
        if (!choice.calls.isEmpty()) {
            json.array("tool_calls");
            for (ToolCall call : choice.calls) {
                AnswerParts.call(json.object(), call.id(), call.name(), call.arguments());
                json.endObject();
            }
            json.endArray();
        }
        json.nullField("refusal").endObject();
    }

    private void logprobs(JsonWriter json, Choice choice) {
        if (!hasLogprobs) {
            json.nullValue();
            return;
        }
        json.object().name("content");
        Logprobs.writeAll(json, choice.logprobs);
        json.nullField("refusal").endObject();
    }
}
