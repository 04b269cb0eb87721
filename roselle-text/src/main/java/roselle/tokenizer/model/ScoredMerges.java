package roselle.tokenizer.model;

import java.util.Arrays;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import roselle.api.CheckpointException;

/**
 * The merges that a SentencePiece vocabulary with scores implies: for each token, each way to cut it into two that are
 * tokens or single characters. The rank is the place of the merged token's score, and equal scores share a rank, so
 * that the leftmost goes first.
 */
final class ScoredMerges {
    /** Each way to cut a token is tried: of 256,000 tokens of 90 characters, which is more than any vocabulary has. */
    private static final long MAX_STEPS = 1L << 31;

    private final Vocabulary vocabulary;
    private final float[] scores;
    private final IntPredicate usable;
    private final int[] rankOf; // by id
    private final int[] mergedOfRank;
    private final int[] strangers;

    ScoredMerges(Vocabulary vocabulary, float[] scores, IntPredicate usable) {
        this.vocabulary = vocabulary;
        this.scores = scores;
        this.usable = usable;
        rankOf = new int[vocabulary.size()];
        mergedOfRank = rank();
        strangers = findStrangers();
    }

    /** One token of each rank. */
    int[] mergedOfRank() {
        return mergedOfRank;
    }

    /** Code points, ascending, that are part of tokens but no tokens. */
    int[] strangers() {
        return strangers;
    }

    private int[] rank() {
        long[] order = new long[vocabulary.size()]; // falling score, then id
        for (int id = 0; id < order.length; id++) {
            float score = id < scores.length ? scores[id] : 0;
            order[id] = ((long) sortable(-score) << 32) | id;
        }
        Arrays.sort(order);
        int[] merged = new int[order.length];
        int ranks = 0;
        for (int i = 0; i < order.length; i++) {
            if (i == 0 || order[i] >> 32 != order[i - 1] >> 32) {
                merged[ranks++] = (int) order[i];
            }
            rankOf[(int) order[i]] = ranks - 1;
        }
        return Arrays.copyOf(merged, ranks);
    }

    /** An integer that orders as the number does; both zeros are one. */
    private static int sortable(float number) {
        int bits = Float.floatToIntBits(number + 0.0f);
        return bits ^ ((bits >> 31) & 0x7FFFFFFF);
    }

    private int[] findStrangers() {
        var found = new TreeSet<Integer>();
        for (int id = 0; id < vocabulary.size(); id++) {
            if (isMade(id)) {
                vocabulary.spelling(id).codePoints().filter(this::isNoToken).forEach(found::add);
            }
        }
        return found.stream().mapToInt(Integer::intValue).toArray();
    }

    private boolean isMade(int id) {
        return vocabulary.contains(id) && usable.test(id) && vocabulary.length(id) > 1;
    }

    private boolean isNoToken(int codePoint) {
        return vocabulary.find(Character.toString(codePoint)) < 0;
    }

    void collectInto(PairTable pairs) {
        long steps = 0;
        for (int id = 0; id < vocabulary.size(); id++) {
            if (isMade(id)) {
                steps += (long) vocabulary.length(id) * vocabulary.length(id);
                if (steps > MAX_STEPS) {
                    throw new CheckpointException(
                            "the tokens up to " + id + " have so many characters that finding their"
                                    + " merges takes more than " + MAX_STEPS + " steps: the vocabulary is damaged");
                }
                collect(vocabulary.spelling(id), id, pairs);
            }
        }
    }

    private void collect(String token, int id, PairTable pairs) {
        for (int cut = 1; cut < token.length(); cut++) {
            if (Character.isLowSurrogate(token.charAt(cut))) {
                continue;
            }
            int left = symbol(token, 0, cut);
            int right = left < 0 ? -1 : symbol(token, cut, token.length());
            if (right >= 0) {
                pairs.put(left, right, rankOf[id], id);
            }
        }
    }

    /** The symbol of a part of a token: a usable token's id, or a stranger's. */
    private int symbol(String token, int start, int end) {
        int id = vocabulary.find(token, start, end);
        if (id >= 0) {
            return usable.test(id) ? id : -1;
        }
        int codePoint = token.codePointAt(start);
        if (Character.charCount(codePoint) != end - start) {
            return -1;
        }
        int place = Arrays.binarySearch(strangers, codePoint);
        return place < 0 ? -1 : vocabulary.size() + place;
    }
}
