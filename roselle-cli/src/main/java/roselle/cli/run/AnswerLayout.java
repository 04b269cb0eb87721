package roselle.cli.run;

import roselle.api.GenerationEvent.ToolCall;

/**
 * How one answer reads in a terminal: thoughts and calls of tools are set apart from the text by lines that begin with {@code ---}.
 * An answer without them is its text and nothing else.
 */
final class AnswerLayout {
    private enum Part {
        TEXT,
        THOUGHT,
        CALL
    }

    private Part part = Part.TEXT;
    private boolean isWithinLine;

    /** What to print where the model goes on to think. */
    String thought(String text) {
        return in(Part.THOUGHT, "--- thinks ---", text);
    }

    /** What to print where it goes on to answer. */
    String text(String text) {
        return in(Part.TEXT, "--- answers ---", text);
    }

    /** What to print for a call. */
    String call(ToolCall call) {
        String line = freshLine() + "--- calls " + call.name() + " " + call.arguments() + " ---\n";
        part = Part.CALL;
        isWithinLine = false;
        return line;
    }

    private String in(Part next, String heading, String text) {
        if (text.isEmpty()) {
            return "";
        }
        String begin = part == next ? "" : freshLine() + heading + "\n";
        part = next;
        isWithinLine = !text.endsWith("\n");
        return begin + text;
    }

    private String freshLine() {
        return isWithinLine ? "\n" : "";
    }
}
