package roselle.jinja.syntax;

import java.util.List;
import java.util.Optional;

/** A parsed statement. */
public sealed interface Statement {
    /** Offset in the source. */
    int at();

    record Output(String text, int at) implements Statement {}

    record Print(Expression value, int at) implements Statement {}

    record For(
            Target target,
            Expression iterable,
            Optional<Expression> test,
            boolean recursive,
            List<Statement> body,
            List<Statement> otherwise,
            int at)
            implements Statement {}

    /** Branches in order; the last body runs when no test holds. */
    record If(List<Branch> branches, List<Statement> otherwise, int at) implements Statement {}

    record Branch(Expression test, List<Statement> body) {}

    record Assign(Target target, Expression value, int at) implements Statement {}

    /** {@code set} with a body; the filter has no input. */
    record AssignBlock(Target target, Optional<Expression.Filter> filter, List<Statement> body, int at)
            implements Statement {}

    record MacroDefinition(String name, Signature signature, List<Statement> body, int at) implements Statement {}

    record CallBlock(Signature signature, Expression.Call call, List<Statement> body, int at) implements Statement {}

    /** {@code generation}: what the assistant said; rendered as it stands, in a scope of its own. */
    record Generation(List<Statement> body, int at) implements Statement {}

    record FilterBlock(Expression.Filter filter, List<Statement> body, int at) implements Statement {}

    record With(List<Target> targets, List<Expression> values, List<Statement> body, int at) implements Statement {}

    record Break(int at) implements Statement {}

    record Continue(int at) implements Statement {}

    /** The parameters of a macro; the last of them have the defaults. */
    record Signature(List<Expression.Name> parameters, List<Expression> defaults) {
        public static final Signature EMPTY = new Signature(List.of(), List.of());

        public Optional<Expression> defaultOf(int parameter) {
            int index = parameter - (parameters.size() - defaults.size());
            return index < 0 ? Optional.empty() : Optional.of(defaults.get(index));
        }
    }

    /** Where an assignment goes. */
    sealed interface Target {
        int at();
    }

    record NameTarget(String name, int at) implements Target {}

    record TupleTarget(List<Target> targets, int at) implements Target {}

    record NamespaceTarget(String namespace, String attribute, int at) implements Target {}
}
