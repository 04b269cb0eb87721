package roselle.gotemplate.syntax;

import java.util.List;
import java.util.Optional;

/** A part of a template that is written out, or decides what is. */
public sealed interface Node {
    /** Its offset in the source. */
    int at();

    record Text(String text, int at) implements Node {}

    record Action(Pipeline pipeline, int at) implements Node {}

    /** {@code if}, {@code with} or {@code range}. */
    record Branch(Kind kind, Pipeline pipeline, List<Node> body, List<Node> otherwise, int at) implements Node {}

    /** What a branch does with the value of its pipeline. */
    enum Kind {
        IF,
        WITH,
        RANGE
    }

    /** {@code template} and {@code block}. */
    record Call(String name, Optional<Pipeline> pipeline, int at) implements Node {}

    /** {@code break} and {@code continue}. */
    record Jump(boolean goesOn, int at) implements Node {}
}
