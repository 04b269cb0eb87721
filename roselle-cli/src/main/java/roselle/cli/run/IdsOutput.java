package roselle.cli.run;

import java.io.PrintWriter;
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

/** Prints the generated ids of each answer as one line, a JSON array; the first as it is made. */
final class IdsOutput implements AnswerOutput {
    private final PrintWriter out;
    private final List<StringBuilder> rest = new ArrayList<>();
    private String separator = "[";

    IdsOutput(PrintWriter out, int choices) {
        this.out = out;
        for (int choice = 1; choice < choices; choice++) {
            rest.add(new StringBuilder());
        }
    }

    @Override
    public void print(GenerationEvent event) {
        switch (event) {
            case TokenGenerated token -> add(token);
            case Finished _ -> finish();
            case Failed _ -> out.flush();
            case Reasoning _, ToolCallStarted _, ToolCallDelta _, ToolCall _, ChoiceEnded _, PromptScored _ -> {}
        }
    }

    private void add(TokenGenerated token) {
        if (token.choice() == 0) {
            out.print(separator + token.id());
            out.flush();
            separator = ",";
        } else {
            StringBuilder line = rest.get(token.choice() - 1);
            line.append(line.isEmpty() ? "" : ",").append(token.id());
        }
    }

    private void finish() {
        out.println(separator.equals("[") ? "[]" : "]");
        rest.forEach(line -> out.println("[" + line + "]"));
        out.flush();
    }
}
