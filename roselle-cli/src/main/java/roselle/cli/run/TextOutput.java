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

/**
 * Prints answers as text, their thoughts set apart: the first as it is made, further ones when all have ended, each under a line
 * of its own.
 */
final class TextOutput implements AnswerOutput {
    private final PrintWriter out;
    private final String echo;
    private final List<StringBuilder> answers = new ArrayList<>();
    private final List<AnswerLayout> layouts = new ArrayList<>();
    private boolean endsWithLine;

    /**
     * @param echo what each answer continues and is printed before it, or empty
     * @param isStyled whether answers are Markdown for a terminal
     */
    TextOutput(PrintWriter out, int choices, String echo, boolean isStyled) {
        this.out = out;
        this.echo = echo;
        for (int choice = 0; choice < choices; choice++) {
            answers.add(new StringBuilder());
            layouts.add(new AnswerLayout(isStyled));
        }
        begin(0);
    }

    @Override
    public void print(GenerationEvent event) {
        switch (event) {
            case Reasoning thought ->
                add(thought.choice(), layout(thought.choice()).thought(thought.text()));
            case ToolCall call -> add(call.choice(), layout(call.choice()).call(call));
            case TokenGenerated token ->
                add(token.choice(), layout(token.choice()).text(token.text()));
            case ChoiceEnded end -> {
                add(end.choice(), layout(end.choice()).text(end.text()));
                add(end.choice(), layout(end.choice()).end());
            }
            case Finished _ -> finish();
            case Failed _ -> endLine();
            case PromptScored _, ToolCallStarted _, ToolCallDelta _ -> {}
        }
    }

    private AnswerLayout layout(int choice) {
        return layouts.get(choice);
    }

    private void begin(int choice) {
        if (answers.size() > 1) {
            out.println("--- " + (choice + 1) + " of " + answers.size() + " ---");
        }
        write(echo);
    }

    private void add(int choice, String text) {
        if (choice == 0) {
            write(text);
        } else {
            answers.get(choice).append(text);
        }
    }

    private void write(String text) {
        if (!text.isEmpty()) {
            out.print(text);
            out.flush();
            endsWithLine = text.endsWith("\n");
        }
    }

    private void finish() {
        endLine();
        for (int choice = 1; choice < answers.size(); choice++) {
            begin(choice);
            write(answers.get(choice).toString());
            endLine();
        }
    }

    private void endLine() {
        if (!endsWithLine) {
            out.println();
        }
        endsWithLine = false;
        out.flush();
    }
}
