package roselle.bench.stub;

/** When the stub's tokens come. */
public interface Script {
    /** From the arrival of the n-th request to its first token. */
    long firstTokenNanos(int request);

    /** From one token of a request to the next. */
    long gapNanos(int request, int token);

    /** The same delays for every request. */
    static Script constant(double firstTokenMillis, double gapMillis) {
        return spread(firstTokenMillis, firstTokenMillis, gapMillis, gapMillis);
    }

    /**
     * Delays spread evenly between two bounds each, in an order that looks random but is the same each time: multiples of
     * the golden ratio's fraction (Weyl's sequence).
     */
    static Script spread(double firstLeast, double firstMost, double gapLeast, double gapMost) {
        return new Script() {
            @Override
            public long firstTokenNanos(int request) {
                return nanos(firstLeast, firstMost, request);
            }

            @Override
            public long gapNanos(int request, int token) {
                return nanos(gapLeast, gapMost, request * 31 + token);
            }
        };
    }

    private static long nanos(double least, double most, int n) {
        double share = n * 0.6180339887498949 % 1;
        return (long) ((least + (most - least) * share) * 1e6);
    }
}
