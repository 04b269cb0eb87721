package roselle.backend.memory;

/** What an adapter does to one use of a weight: it adds to what it gives, or stands in its place. */
public sealed interface AdapterPart permits LowRank, OwnMatrix {
    /** The weight, as its device made it. */
    Weight weight();

    /** What of the weight is changed. */
    Use use();

    /** Uses of weights; a matrix that is embedding and output in one has two. */
    enum Use {
        /** Products with all rows of a step. */
        PRODUCT,
        /** Products with an activation in their epilogue, which steps that adapt take behind them. */
        ACTIVATED_PRODUCT,
        /** Products of experts, each with the rows that chose it. */
        EXPERT,
        /** Rows by token. */
        TABLE,
        /** The product that gives logits. */
        LOGITS
    }
}
