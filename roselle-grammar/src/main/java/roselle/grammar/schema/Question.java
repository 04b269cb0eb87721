package roselle.grammar.schema;

/** Whether something can be completed: asked once, answered for good. */
final class Question {
    enum Answer {
        UNKNOWN,
        OPEN,
        YES,
        NO
    }

    Answer answer = Answer.UNKNOWN;
    int index;
}
