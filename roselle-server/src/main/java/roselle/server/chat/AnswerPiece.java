package roselle.server.chat;

/** A part of an answer, as clients are told it. */
public sealed interface AnswerPiece {
    /** Text for the user. */
    record Content(String text) implements AnswerPiece {}

    /** Text that the model thought before it answered. */
    record Thought(String text) implements AnswerPiece {}

    /**
     * A call of a tool.
     *
     * @param index 0 for the first of the answer
     * @param arguments a JSON object, as text
     */
    record Call(int index, String name, String arguments) implements AnswerPiece {}
}
