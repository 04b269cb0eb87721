package roselle.conversation;

/** A part of an answer. */
public sealed interface AnswerPart {
    /** Text for the user. */
    record Text(String text) implements AnswerPart {}

    /** Text that the model thought before it answered. */
    record Thought(String text) implements AnswerPart {}

    /**
     * A call of a tool.
     *
     * @param index 0 for the first of the answer
     * @param arguments a JSON object as a rule, as text; what the model wrote
     */
    record Call(int index, String name, String arguments) implements AnswerPart {}
}
