package roselle.cli.run;

import java.util.ArrayList;
import java.util.List;
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

/** What a conversation keeps of an answer: its text, without thoughts, and its calls of tools. */
final class HeardAnswer {
    private final StringBuilder text = new StringBuilder();
    private final List<ToolCall> calls = new ArrayList<>();

    void take(GenerationEvent event) {
        switch (event) {
            case TokenGenerated token -> text.append(token.text());
            case ChoiceEnded end -> text.append(end.text());
            case ToolCall call -> calls.add(call);
            case Reasoning _, PromptScored _, ToolCallStarted _, ToolCallDelta _, Finished _, Failed _ -> {}
        }
    }

    String text() {
        return text.toString();
    }

    List<ToolCall> calls() {
        return calls;
    }
}
