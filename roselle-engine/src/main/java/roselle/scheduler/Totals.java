package roselle.scheduler;

/** What a scheduler has counted since it was made; its own thread reads and writes. */
public final class Totals {
    long promptTokens;
    long cachedTokens;
    long generatedTokens;
    long forcedTokens;
    long preemptions;

    Totals() {}

    /** Tokens of the prompts of all sequences that have started. */
    public long promptTokens() {
        return promptTokens;
    }

    /** Those of them that came from the prefix cache. */
    public long cachedTokens() {
        return cachedTokens;
    }

    public long generatedTokens() {
        return generatedTokens;
    }

    /** Those of them that were the only ones allowed, and were taken without sampling. */
    public long forcedTokens() {
        return forcedTokens;
    }

    /** How often a sequence lost its pages to another. */
    public long preemptions() {
        return preemptions;
    }
}
