package roselle.grammar.mask;

import java.util.Arrays;
import java.util.stream.IntStream;
import roselle.grammar.automaton.Lexeme;

/**
 * How many symbols the tokens inside a lexeme, and its ends, take: tokens with at most so many are allowed under a bound.
 *
 * @param atMost for each count, from 0, the tokens that take no more
 * @param ends the nodes of the ends, sorted
 * @param ofEnds symbols before each of them
 * @param mostOfEnds the largest of those
 * @param ofTokens symbols of each token inside; -1 for others
 * @param complete the tokens that end where the lexeme does
 */
@SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
record SymbolCounts(Dense[] atMost, int[] ends, int[] ofEnds, int mostOfEnds, int[] ofTokens, int[] complete) {
    /** Those of a lexeme whose tokens and ends are known. */
    static SymbolCounts of(TokenTrie trie, LexemeMask all, Lexeme unbounded, int words) {
        int size = words << 6;
        int[] ofTokens = new int[size];
        boolean[] isComplete = new boolean[size];
        Arrays.fill(ofTokens, -1);
        int[] ofNodes = new int[trie.nodes];
        Lexeme[] path = new Lexeme[trie.maxDepth + 1];
        int[] symbols = new int[trie.maxDepth + 1];
        path[0] = unbounded;
        int node = 1;
        while (node < trie.nodes) {
            int depth = trie.depth[node];
            Lexeme next = path[depth - 1].next(trie.octet[node] & 0xFF);
            if (next == null) {
                node = trie.end[node];
                continue;
            }
            int done = symbols[depth - 1] + (next.isBetweenSymbols() ? 1 : 0);
            int needed = next.isBetweenSymbols() || next.mayEnd() ? done : done + 1;
            for (int token = trie.token[node]; token >= 0; token = trie.nextSame[token]) {
                ofTokens[token] = needed;
                isComplete[token] = next.mayEnd();
            }
            ofNodes[node] = done;
            path[depth] = next;
            symbols[depth] = done;
            node++;
        }
        int[] ends = IntStream.of(all.ends.nodes).sorted().toArray();
        int[] ofEnds = IntStream.of(ends).map(end -> ofNodes[end]).toArray();
        return of(ofTokens, isComplete, ends, ofEnds, words);
    }

    /** From the symbols of each token inside, -1 for others, and whether it ends with the lexeme. */
    private static SymbolCounts of(int[] ofTokens, boolean[] isComplete, int[] ends, int[] ofEnds, int words) {
        int most = Arrays.stream(ofTokens).max().orElse(0);
        Dense[] atMost = new Dense[Math.max(0, most) + 1];
        int[] sizes = new int[atMost.length + 1]; // of tokens by their symbols, then where each number's begin
        for (int symbols : ofTokens) {
            if (symbols >= 0) {
                sizes[symbols + 1]++;
            }
        }
        for (int count = 0; count < atMost.length; count++) {
            sizes[count + 1] += sizes[count];
        }
        int[] byCount = new int[sizes[atMost.length]];
        int[] next = sizes.clone();
        for (int token = 0; token < ofTokens.length; token++) {
            if (ofTokens[token] >= 0) {
                byCount[next[ofTokens[token]]++] = token;
            }
        }
        long[] bits = new long[words];
        long hash = 0;
        for (int count = 0; count < atMost.length; count++) {
            for (int i = sizes[count]; i < sizes[count + 1]; i++) {
                bits[byCount[i] >>> 6] |= 1L << byCount[i];
                hash += TokenHash.of(byCount[i]);
            }
            atMost[count] = Dense.of(bits.clone(), hash);
        }
        int[] complete = IntStream.range(0, ofTokens.length)
                .filter(token -> isComplete[token])
                .toArray();
        return new SymbolCounts(
                atMost, ends, ofEnds, Arrays.stream(ofEnds).max().orElse(0), ofTokens, complete);
    }

    Dense atMost(long symbols) {
        return atMost[(int) Math.min(symbols, atMost.length - 1)];
    }

    /** Symbols before the end at a node. */
    int ofEnd(int node) {
        return ofEnds[Arrays.binarySearch(ends, node)];
    }

    /** Symbols of a token that ends where the lexeme does. */
    int ofComplete(int token) {
        return ofTokens[token];
    }
}
