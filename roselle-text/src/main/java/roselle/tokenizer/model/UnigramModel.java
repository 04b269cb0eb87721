package roselle.tokenizer.model;

import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * The segmentation whose tokens' log-probabilities have the largest sum (Kudo, "Subword regularization", 2018), found by
 * dynamic programming from left to right.
 *
 * <p>Released implementations differ where sums tie or round, so the arithmetic is theirs: Hugging Face's library and
 * llama.cpp add in double precision; SentencePiece adds in single precision. In all
 * of them a later candidate must be strictly better, candidates come by start, then by length, and a character that is
 * no token costs the smallest score minus 10.
 */
public final class UnigramModel implements Model {
    private static final double UNKNOWN_PENALTY = 10;
    private static final int UNREACHED = -1;
    /** Characters that are told of at a time. */
    private static final int SLICE = 1 << 12;

    private final PieceTrie trie;
    private final double[] scores; // [ids]
    private final double unknownScore;
    private final int unknownId;
    private final boolean singlePrecision;
    private final UnknownPieces unknown;

    /** Appends the ids of a run of characters that are no tokens. */
    @FunctionalInterface
    public interface UnknownPieces {
        void append(String text, int start, int end, IdBuffer ids);
    }

    /**
     * What a Unigram model is made of.
     *
     * @param scores log-probabilities by id
     * @param smallestScore the smallest score of an ordinary token
     * @param unknownId the id that stands for what is no token, or -1
     */
    @SuppressWarnings("ArrayRecordComponent") // large, handed over once and never changed
    public record Parts(PieceTrie trie, double[] scores, double smallestScore, int unknownId) {}

    private UnigramModel(Parts parts, boolean singlePrecision, UnknownPieces unknown) {
        trie = parts.trie();
        scores = parts.scores();
        unknownId = parts.unknownId();
        unknownScore = singlePrecision
                ? (float) parts.smallestScore() - (float) UNKNOWN_PENALTY
                : parts.smallestScore() - UNKNOWN_PENALTY;
        this.singlePrecision = singlePrecision;
        this.unknown = unknown;
    }

    /** Sums in double precision. */
    public static UnigramModel ofDoubles(Parts parts, UnknownPieces unknown) {
        return new UnigramModel(parts, false, unknown);
    }

    /** Sums in single precision. */
    public static UnigramModel ofFloats(Parts parts, UnknownPieces unknown) {
        return new UnigramModel(parts, true, unknown);
    }

    @Override
    public void tokenize(String text, int start, int end, IdBuffer ids, IntConsumer during) {
        int length = end - start;
        var lattice = new Lattice(length, singlePrecision);
        int told = 0;
        for (int at = 0; at < length; ) {
            if (at - told >= SLICE) {
                during.accept(at - told);
                told = at;
            }
            int character = Character.charCount(text.codePointAt(start + at));
            if (!offerTokens(text, start, at, length, character, lattice)) {
                lattice.offer(at, at + character, unknownId, unknownScore + lattice.best[at]);
            }
            at += character;
        }
        appendPath(lattice, text, start, ids);
    }

    /** Offers every token at one place; whether one of them is exactly the character there. */
    private boolean offerTokens(String text, int start, int from, int length, int character, Lattice lattice) {
        boolean isCharacterToken = false;
        int node = PieceTrie.ROOT;
        double before = lattice.best[from];
        for (int at = from; at < length; at++) {
            node = trie.child(node, text.charAt(start + at));
            if (node == PieceTrie.NONE) {
                break;
            }
            int id = trie.token(node);
            if (id != PieceTrie.NONE) {
                lattice.offer(from, at + 1, id, scores[id] + before);
                isCharacterToken |= at + 1 - from == character;
            }
        }
        return isCharacterToken;
    }

    private void appendPath(Lattice lattice, String text, int start, IdBuffer ids) {
        int[] ends = lattice.path();
        int at = 0;
        for (int i = 0; i < ends.length; i++) {
            int id = lattice.ids[ends[i]];
            int end = ends[i];
            if (id == unknownId) {
                while (i + 1 < ends.length && lattice.ids[ends[i + 1]] == unknownId) {
                    end = ends[++i];
                }
                unknown.append(text, start + at, start + end, ids);
            } else {
                ids.add(id);
            }
            at = end;
        }
    }

    /** The best way to each place of a text. */
    private static final class Lattice {
        private final double[] best; // [length + 1] the sum of the best path that ends there
        private final int[] from; // [length + 1] where its last token begins
        private final int[] ids; // [length + 1] its last token
        private final boolean singlePrecision;

        Lattice(int length, boolean singlePrecision) {
            this.singlePrecision = singlePrecision;
            best = new double[length + 1];
            from = new int[length + 1];
            ids = new int[length + 1];
            Arrays.fill(from, UNREACHED);
        }

        void offer(int start, int end, int id, double exact) {
            double score = rounded(exact);
            if (from[end] == UNREACHED || score > best[end]) {
                best[end] = score;
                from[end] = start;
                ids[end] = id;
            }
        }

        double rounded(double score) {
            return singlePrecision ? (float) score : score;
        }

        /** The ends of the best path's tokens in order. */
        int[] path() {
            int count = 0;
            for (int at = best.length - 1; at > 0; at = from[at]) {
                count++;
            }
            int[] ends = new int[count];
            for (int at = best.length - 1; at > 0; at = from[at]) {
                ends[--count] = at;
            }
            return ends;
        }
    }
}
