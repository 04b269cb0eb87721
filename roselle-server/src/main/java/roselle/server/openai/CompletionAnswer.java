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
import roselle.api.Usage;
import roselle.server.http.JsonWriter;
import roselle.tokenizer.Tokenizer;

/** A completion that is told as a whole. */
final class CompletionAnswer {
    private static final class Choice {
        final StringBuilder text = new StringBuilder();
        final LogprobLists logprobs = new LogprobLists();
        FinishReason reason = FinishReason.CANCELLED;
    }

    private final CompletionCall call;
    private final Tokenizer tokenizer;
    private final List<Choice> choices = new ArrayList<>();
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0, 0);

    CompletionAnswer(CompletionCall call) {
        this.call = call;
        tokenizer = call.model().engine().tokenizer();
        for (int prompt = 0; prompt < call.requests().size(); prompt++) {
            for (int choice = 0; choice < call.choices(); choice++) {
                var added = new Choice();
                added.text.append(call.echoes().isEmpty() ? "" : call.echoes().get(prompt));
                choices.add(added);
            }
        }
    }

    /** Takes an event of one of the prompts. */
    void add(int prompt, GenerationEvent event) {
        switch (event) {
            case PromptScored scored -> scored(prompt, scored);
            case TokenGenerated token -> token(choice(prompt, token.choice()), token);
            case ChoiceEnded end -> {
                Choice choice = choice(prompt, end.choice());
                choice.text.append(call.onlyPrompt() ? "" : end.text());
                choice.reason = call.onlyPrompt() ? FinishReason.LENGTH : end.reason();
            }
            case Finished finished -> usage = AnswerParts.sum(usage, finished.usage(), call.onlyPrompt());
            case Reasoning _,
                    ToolCallStarted _,
                    ToolCallDelta _,
                    ToolCall _,
                    Failed _ -> {} // prompts are no chats; failures are not handed out
        }
    }

    private Choice choice(int prompt, int choice) {
        return choices.get(prompt * call.choices() + choice);
    }

    private void scored(int prompt, PromptScored scored) {
        for (int choice = 0; choice < call.choices(); choice++) {
            AnswerParts.scored(choice(prompt, choice).logprobs, scored, tokenizer);
        }
    }

    private void token(Choice choice, TokenGenerated token) {
        if (call.onlyPrompt()) {
            return;
        }
        choice.text.append(token.text());
        if (call.hasLogprobs()) {
            choice.logprobs.add(token.logprobs().getFirst().text(), token.logprobs());
        }
    }

    JsonWriter body(AnswerHead head) {
        JsonWriter json = head.open(new JsonWriter(), "text_completion").array("choices");
        for (int index = 0; index < choices.size(); index++) {
            choice(json, index, choices.get(index));
        }
        json.endArray();
        AnswerParts.usage(json.name("usage"), usage);
        return json.endObject();
    }

    private void choice(JsonWriter json, int index, Choice choice) {
        json.object().field("index", index).field("text", choice.text.toString());
        if (call.hasLogprobs()) {
            choice.logprobs.write(json.name("logprobs"));
        } else {
            json.nullField("logprobs");
        }
        json.field("finish_reason", AnswerParts.reason(choice.reason)).endObject();
    }
}
