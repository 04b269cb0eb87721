package roselle.tokenizer.model;

import java.util.Arrays;
import java.util.function.IntPredicate;
import roselle.api.CheckpointException;

/** Collects what a file says about a byte-pair model, checks it and builds the model. */
public final class BytePairBuilder {
    private static final int NONE = -1;
    private static final char WORD_MARK = '\u2581';

    private final Vocabulary vocabulary;
    private final PairTable pairs;
    private int[] mergedOfRank;
    private int ranks;
    private int[] strangers = new int[0];
    private boolean byteAlphabet;
    private boolean ignoreMerges;
    private boolean byteFallback;
    private boolean fuseUnknown;
    private int unknown = NONE;
    private SymbolTable.Affixes affixes = SymbolTable.Affixes.NONE;

    public BytePairBuilder(Vocabulary vocabulary, int expectedMerges) {
        this.vocabulary = vocabulary;
        pairs = new PairTable(Math.min(expectedMerges, 1 << 22));
        mergedOfRank = new int[Math.clamp(expectedMerges, 16, 1 << 22)];
    }

    /** Pieces arrive as plain text and are respelled in GPT-2's byte alphabet by the model. */
    public BytePairBuilder byteAlphabet(boolean value) {
        byteAlphabet = value;
        return this;
    }

    /** A piece that is a token as a whole becomes that token, whatever the merges say. */
    public BytePairBuilder ignoreMerges(boolean value) {
        ignoreMerges = value;
        return this;
    }

    /** Characters without a token become {@code <0xXX>} tokens, where the vocabulary has them. */
    public BytePairBuilder byteFallback(boolean value) {
        byteFallback = value;
        return this;
    }

    /** Characters without a token become this one; it must be in the vocabulary. */
    public BytePairBuilder unknown(String token) {
        unknown = vocabulary.find(token);
        if (unknown == NONE) {
            throw new CheckpointException(
                    "the unknown token '" + token + "' is not in the vocabulary: the tokenizer's file is damaged");
        }
        return this;
    }

    public BytePairBuilder fuseUnknown(boolean value) {
        fuseUnknown = value;
        return this;
    }

    /** What stands before every character but a word's first, and what after its last; empty for nothing. */
    public BytePairBuilder affixes(String continuingSubwordPrefix, String endOfWordSuffix) {
        affixes = new SymbolTable.Affixes(continuingSubwordPrefix, endOfWordSuffix);
        return this;
    }

    /** Adds the next merge, written as two spellings with one space between; set the affixes before. */
    public BytePairBuilder merge(String pair) {
        int space = pair.indexOf(' ');
        if (space < 0 || pair.indexOf(' ', space + 1) >= 0) {
            throw new CheckpointException("merge " + ranks + " is '" + pair
                    + "', not two tokens with one space between: the tokenizer's file is damaged");
        }
        int left = vocabulary.find(pair, 0, space);
        int right = vocabulary.find(pair, space + 1, pair.length());
        char[] joined = new char[pair.length()];
        pair.getChars(0, space, joined, 0);
        int from = Math.min(pair.length(), space + 1 + affixes.prefix().length());
        pair.getChars(from, pair.length(), joined, space);
        return add(left, right, joined, 0, space + pair.length() - from);
    }

    /** Adds the next merge, of the strings {@code first} and {@code first + 1}; set the affixes before. */
    public BytePairBuilder merge(PackedStrings spellings, int first) {
        char[] characters = spellings.characters();
        int start = spellings.start(first);
        int middle = spellings.end(first);
        int end = spellings.end(first + 1);
        int left = vocabulary.find(characters, start, middle);
        int right = vocabulary.find(characters, middle, end);
        int dropped = Math.min(end - middle, affixes.prefix().length());
        if (dropped == 0) {
            return add(left, right, characters, start, end);
        }
        char[] joined = new char[end - start - dropped];
        System.arraycopy(characters, start, joined, 0, middle - start);
        System.arraycopy(characters, middle + dropped, joined, middle - start, end - middle - dropped);
        return add(left, right, joined, 0, joined.length);
    }

    private BytePairBuilder add(int left, int right, char[] joined, int start, int end) {
        int merged = vocabulary.find(joined, start, end);
        if (left == NONE || right == NONE || merged == NONE) {
            throw new CheckpointException("merge " + ranks + ", which makes '" + new String(joined, start, end - start)
                    + "', names a token that is not in the vocabulary: the tokenizer's file is damaged");
        }
        if (ranks == mergedOfRank.length) {
            mergedOfRank = Arrays.copyOf(mergedOfRank, ranks * 2);
        }
        mergedOfRank[ranks] = merged;
        pairs.put(left, right, ranks, merged);
        ranks++;
        return this;
    }

    /**
     * Adds SentencePiece's merges: any two neighbours may merge whose text together is a token, the best score first.
     *
     * @param scores by id
     * @param usable whether text may become this token (control, unknown and byte tokens it may not)
     */
    public BytePairBuilder scoredMerges(float[] scores, IntPredicate usable) {
        var merges = new ScoredMerges(vocabulary, scores, usable);
        merges.collectInto(pairs);
        mergedOfRank = merges.mergedOfRank();
        ranks = mergedOfRank.length;
        strangers = merges.strangers();
        return this;
    }

    public BytePairModel build() {
        var fallback = new SymbolTable.Fallback(byteIds(), unknown, fuseUnknown);
        var symbols = new SymbolTable(vocabulary, affixes, fallback, strangers);
        return new BytePairModel(new BytePairModel.Rules(
                vocabulary,
                pairs,
                Arrays.copyOf(mergedOfRank, ranks),
                symbols,
                byteAlphabet,
                ignoreMerges,
                cutsBeforeWordMark(fallback) ? WORD_MARK : 0));
    }

    private int[] byteIds() {
        if (!byteFallback) {
            return new int[0];
        }
        int[] ids = new int[256];
        for (int value = 0; value < 256; value++) {
            ids[value] = vocabulary.find("<0x%02X>".formatted(value));
        }
        return ids;
    }

    /**
     * Whether a piece may be cut before each word mark that follows something else: no token reaches across such a
     * place, so that no merge does.
     */
    private boolean cutsBeforeWordMark(SymbolTable.Fallback fallback) {
        return !byteAlphabet
                && !ignoreMerges
                && affixes.equals(SymbolTable.Affixes.NONE)
                && (fallback.coversAllBytes() || fallback.unknown() == NONE || !fuseUnknown)
                && vocabulary.find(String.valueOf(WORD_MARK)) != NONE
                && !vocabulary.anyContainsInside(WORD_MARK);
    }
}
