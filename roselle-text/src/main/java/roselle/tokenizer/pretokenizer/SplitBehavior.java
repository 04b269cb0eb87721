package roselle.tokenizer.pretokenizer;

/** What becomes of the matches at which a text is split. */
public enum SplitBehavior {
    /** They are dropped. */
    REMOVED,
    /** Each is a piece. */
    ISOLATED,
    /** Each joins the piece before it. */
    MERGED_WITH_PREVIOUS,
    /** Each joins the piece after it. */
    MERGED_WITH_NEXT,
    /** Neighbouring matches are one piece. */
    CONTIGUOUS
}
