package roselle.api;

import java.util.List;
import roselle.api.InvalidRequestException.Reason;

/**
 * Which of a conversation's tools the model calls, and how many at a time.
 *
 * @param name of the tool that must be called; empty unless the choice is {@link Choice#NAMED}
 * @param isParallel whether one answer may call several tools; if not, it ends with its first call
 * @param allowed names of the tools that may be called, of all that the model hears of; none for all
 */
public record ToolUse(Choice choice, String name, boolean isParallel, List<String> allowed) {
    /** The model decides. */
    public static final ToolUse AUTO = new ToolUse(Choice.AUTO, "", true);

    /** Who decides. */
    public enum Choice {
        /** The model, in each answer. */
        AUTO,
        /** None is called; the model does not hear of them. */
        NONE,
        /** One must be called. */
        REQUIRED,
        /** This one must be called. */
        NAMED
    }

    /** A choice among all tools. */
    public ToolUse(Choice choice, String name, boolean isParallel) {
        this(choice, name, isParallel, List.of());
    }

    public ToolUse {
        allowed = List.copyOf(allowed);
        if (choice == Choice.NAMED == name.isEmpty()) {
            throw new InvalidRequestException(
                    Reason.INVALID,
                    "tool_choice",
                    "tool_choice names a tool, and only then is it one that must be called");
        }
    }
}
