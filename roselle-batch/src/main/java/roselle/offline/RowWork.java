package roselle.offline;

/** What is done with a row, and what that takes. */
public interface RowWork<I, O> {
    /** Answers a row, on a thread of the row's own; what it throws is thrown to who takes the row's answer. */
    O answer(I row);

    /** Tokens that the row is likely to take, prompt and answer together: rows that take far more than others begin before them. */
    long expectedTokens(I row);

    /** Bytes of memory that a row takes until its answer is taken, about. */
    long rowBytes(I row);

    /** Bytes of memory that an answer takes beside its row, about. */
    long answerBytes(O answer);
}
