package roselle.conversation;

/** A part of an answer. */
public sealed interface AnswerPart {
    /** Text for the user. */
    record Text(String text) implements AnswerPart {}

    /** Text that the model thought before it answered. */
    record Thought(String text) implements AnswerPart {}

    /**
     * A call of a tool begins.
     *
     * @param index 0 for the first of the answer
     * @param id by which the tool's result will refer to the call
     */
    record CallStarted(int index, String id, String name) implements AnswerPart {}

    /** The arguments of the call that began last go on; {@code arguments} is never empty. */
    record CallDelta(int index, String arguments) implements AnswerPart {}

    /**
     * A call is complete.
     *
     * @param arguments a JSON object as a rule, as text: all deltas joined
     */
    record Call(int index, String id, String name, String arguments) implements AnswerPart {}
}
