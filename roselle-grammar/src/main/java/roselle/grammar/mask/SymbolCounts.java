package roselle.grammar.mask;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * How many symbols the tokens inside a lexeme, and its ends, take: tokens with at most so many are allowed under a bound.
 *
 * @param atMost for each count, from 0, the tokens that take no more
 * @param ofEnds symbols before each end
 * @param mostOfEnds the largest of those
 * @param ofTokens symbols of each token inside; -1 for others
 * @param complete the tokens that end where the lexeme does
 */
@SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
record SymbolCounts(Dense[] atMost, int[] ofEnds, int mostOfEnds, int[] ofTokens, int[] complete) {
    /** From the symbols of each token inside, -1 for others, and whether it ends with the lexeme. */
    static SymbolCounts of(int[] ofTokens, boolean[] isComplete, int[] ofEnds, int words) {
        int most = Arrays.stream(ofTokens).max().orElse(0);
        Dense[] atMost = new Dense[Math.max(0, most) + 1];
        long[] bits = new long[words];
        for (int count = 0; count < atMost.length; count++) {
            for (int token = 0; token < ofTokens.length; token++) {
                if (ofTokens[token] == count) {
                    bits[token >>> 6] |= 1L << token;
                }
            }
            atMost[count] = Dense.of(bits.clone());
        }
        int[] complete = IntStream.range(0, ofTokens.length)
                .filter(token -> isComplete[token])
                .toArray();
        return new SymbolCounts(atMost, ofEnds, Arrays.stream(ofEnds).max().orElse(0), ofTokens, complete);
    }

    Dense atMost(long symbols) {
        return atMost[(int) Math.min(symbols, atMost.length - 1)];
    }

    /** Symbols of a token that ends where the lexeme does. */
    int ofComplete(int token) {
        return ofTokens[token];
    }
}
