package roselle.cli.run;

import java.util.Map;
import roselle.api.GenerationEvent.ToolCall;

/**
 * How one answer reads in a terminal: thoughts and calls of tools are set apart from the text by lines that begin with {@code ---}.
 * An answer without them is its text and nothing else, or, where it is styled, its Markdown as styles.
 */
final class AnswerLayout {
    private enum Part {
        TEXT,
        THOUGHT,
        CALL
    }

    private final boolean isStyled;
    private StyledMarkdown markdown = new StyledMarkdown();
    private Part part = Part.TEXT;
    private boolean isWithinLine;

    /** As plain text. */
    AnswerLayout() {
        this(false);
    }

    /** @param isStyled thoughts are dim, and the text is Markdown to be shown as a terminal can */
    AnswerLayout(boolean isStyled) {
        this.isStyled = isStyled;
    }

    /** Whether a terminal that says this of itself shows styles; {@code NO_COLOR} is the usual wish for none (no-color.org). */
    static boolean areStylesWanted(Map<String, String> environment) {
        return !environment.getOrDefault("TERM", "dumb").equals("dumb")
                && environment.getOrDefault("NO_COLOR", "").isEmpty();
    }

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
        String line = end() + freshLine() + dim("--- calls " + call.name() + " " + call.arguments() + " ---") + "\n";
        part = Part.CALL;
        isWithinLine = false;
        return line;
    }

    /** What is left to print of a text that ends, or is interrupted, here. */
    String end() {
        String rest = isStyled ? markdown.end() : "";
        markdown = new StyledMarkdown();
        return rest;
    }

    private String in(Part next, String heading, String text) {
        if (text.isEmpty()) {
            return "";
        }
        String begin = part == next ? "" : end() + freshLine() + dim(heading) + "\n";
        part = next;
        isWithinLine = !text.endsWith("\n");
        return begin + styled(next, text);
    }

    private String styled(Part of, String text) {
        if (!isStyled) {
            return text;
        }
        return of == Part.TEXT ? markdown.write(text) : dim(StyledMarkdown.harmless(text));
    }

    private String dim(String text) {
        return isStyled ? StyledMarkdown.DIM + text + StyledMarkdown.RESET : text;
    }

    private String freshLine() {
        return isWithinLine ? "\n" : "";
    }
}
