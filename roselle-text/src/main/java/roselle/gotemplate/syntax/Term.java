package roselle.gotemplate.syntax;

import java.util.List;

/** One operand of a command. */
public sealed interface Term {
    /** Its offset in the source. */
    int at();

    /** The value that a template is about: {@code .} */
    record Dot(int at) implements Term {}

    /** A number, a text, a truth, or nil. */
    record Literal(Object value, int at) implements Term {}

    /** Fields of that value: {@code .A.B} */
    record Field(List<String> names, int at) implements Term {}

    /** A variable, and fields of it: {@code $x.A}; the name has its sign. */
    record Variable(String name, List<String> names, int at) implements Term {}

    /** Fields of any other value: {@code (index .A 0).B} */
    record Chain(Term base, List<String> names, int at) implements Term {}

    record Function(String name, int at) implements Term {}

    /** What stands in parentheses. */
    record Group(Pipeline pipeline, int at) implements Term {}
}
