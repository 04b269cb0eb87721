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
import roselle.server.answer.Logprobs;
import roselle.server.chat.AnswerPiece;
import roselle.server.chat.AnswerPiece.Call;
import roselle.server.chat.AnswerPiece.Content;
import roselle.server.chat.AnswerPiece.Thought;
import roselle.server.chat.AnswerSplitter;
import roselle.server.http.JsonText;

/** A chat completion that is told as a whole. */
final class ChatAnswer {
    private static final class Choice {
        final AnswerSplitter splitter;
        final StringBuilder text = new StringBuilder();
        final StringBuilder thoughts = new StringBuilder();
        final List<Call> calls = new ArrayList<>();
        final List<List<TokenLogprob>> logprobs = new ArrayList<>();
        FinishReason reason = FinishReason.CANCELLED;

        Choice(AnswerSplitter splitter) {
            this.splitter = splitter;
        }

        void add(List<AnswerPiece> pieces) {
            for (AnswerPiece piece : pieces) {
                switch (piece) {
                    case Content content -> text.append(content.text());
                    case Thought thought -> thoughts.append(thought.text());
                    case Call call -> calls.add(call);
                }
            }
        }
    }

    private final List<Choice> choices = new ArrayList<>();
    private final boolean hasLogprobs;
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0);

    ChatAnswer(ChatCall call, List<AnswerSplitter> splitters) {
        hasLogprobs = call.request().output().logprobs();
        splitters.forEach(splitter -> choices.add(new Choice(splitter)));
    }

    void add(GenerationEvent event) {
        switch (event) {
            case TokenGenerated token -> {
                Choice choice = choices.get(token.choice());
                choice.add(choice.splitter.add(token));
                if (hasLogprobs) {
                    choice.logprobs.add(token.logprobs());
                }
            }
            case ChoiceEnded end -> {
                Choice choice = choices.get(end.choice());
                choice.add(choice.splitter.finish(end.text()));
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
        var splitters = choices.stream().map(choice -> choice.splitter).toList();
        AnswerParts.chatUsage(json.raw("],\"usage\":"), usage, splitters);
        return json.raw("}");
    }

    private void choice(JsonText json, int index) {
        Choice choice = choices.get(index);
        message(json.raw("{\"index\":").number(index).raw(",\"message\":"), choice);
        logprobs(json.raw(",\"logprobs\":"), choice);
        json.raw(",\"finish_reason\":")
                .raw(AnswerParts.reason(choice.reason, choice.splitter.hasCalled()))
                .raw("}");
    }

    private static void message(JsonText json, Choice choice) {
        json.raw("{\"role\":\"assistant\",\"content\":");
        if (choice.text.isEmpty() && !choice.calls.isEmpty()) {
            json.raw("null");
        } else {
            json.string(choice.text.toString());
        }
        if (!choice.thoughts.isEmpty()) {
            json.raw(",\"reasoning_content\":").string(choice.thoughts.toString());
        }
        String separator = ",\"tool_calls\":[";
        for (Call call : choice.calls) {
            AnswerParts.call(json.raw(separator), call, false);
            separator = ",";
        }
        json.raw(choice.calls.isEmpty() ? "" : "]").raw(",\"refusal\":null}");
    }

    private void logprobs(JsonText json, Choice choice) {
        if (!hasLogprobs) {
            json.raw("null");
            return;
        }
        json.raw("{\"content\":[");
        String separator = "";
        for (List<TokenLogprob> token : choice.logprobs) {
            Logprobs.write(json.raw(separator), token);
            separator = ",";
        }
        json.raw("],\"refusal\":null}");
    }
}
