package roselle.server.openai;

import java.util.ArrayList;
import java.util.List;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.TokenLogprob;
import roselle.api.Usage;
import roselle.server.http.JsonText;

/** A chat completion that is told as a whole. */
final class ChatAnswer {
    private static final class Choice {
        final StringBuilder text = new StringBuilder();
        final List<List<TokenLogprob>> logprobs = new ArrayList<>();
        FinishReason reason = FinishReason.CANCELLED;
    }

    private final List<Choice> choices = new ArrayList<>();
    private final boolean hasLogprobs;
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0);

    ChatAnswer(ChatCall call) {
        hasLogprobs = call.request().output().logprobs();
        for (int choice = 0; choice < call.request().output().choices(); choice++) {
            choices.add(new Choice());
        }
    }

    void add(GenerationEvent event) {
        switch (event) {
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
            case PromptScored _, Failed _ -> {} // neither asked for nor handed out
        }
    }

    JsonText body(AnswerHead head) {
        JsonText json = head.write(new JsonText(), "chat.completion").raw("\"choices\":[");
        for (int index = 0; index < choices.size(); index++) {
            choice(json.raw(index == 0 ? "" : ","), index);
        }
        AnswerParts.usage(json.raw("],\"usage\":"), usage);
        return json.raw("}");
    }

    private void choice(JsonText json, int index) {
        Choice choice = choices.get(index);
        json.raw("{\"index\":")
                .number(index)
                .raw(",\"message\":{\"role\":\"assistant\",\"content\":")
                .string(choice.text.toString())
                .raw(",\"refusal\":null},\"logprobs\":");
        logprobs(json, choice);
        json.raw(",\"finish_reason\":").raw(AnswerParts.reason(choice.reason)).raw("}");
    }

    private void logprobs(JsonText json, Choice choice) {
        if (!hasLogprobs) {
            json.raw("null");
            return;
        }
        json.raw("{\"content\":[");
        String separator = "";
        for (List<TokenLogprob> token : choice.logprobs) {
            AnswerParts.chatLogprob(json.raw(separator), token);
            separator = ",";
        }
        json.raw("],\"refusal\":null}");
    }
}
