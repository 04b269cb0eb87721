package roselle.conversation;

import java.util.List;

/** How a family writes the calls that it has marked as such. */
@FunctionalInterface
public interface CallSyntax {
    /** A call as it is written: the name of a tool, and its arguments as text. */
    record WrittenCall(String name, String arguments) {}

    /** The calls of a marked stretch of text, one at least; none where it is not what this syntax says. */
    List<WrittenCall> read(String written);
}
