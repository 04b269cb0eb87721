package roselle.gotemplate.syntax;

import java.util.List;

/**
 * Commands, each of which has the value of the one before it as its last argument.
 *
 * @param variables that get the value, with their signs; at most one but in {@code range}
 * @param assigns whether they are there already
 */
public record Pipeline(List<String> variables, boolean assigns, List<Command> commands, int at) {
    /** A value, or a function with its arguments. */
    public record Command(List<Term> terms) {}
}
