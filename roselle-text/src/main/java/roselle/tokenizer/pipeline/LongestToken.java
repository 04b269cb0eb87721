package roselle.tokenizer.pipeline;

import roselle.tokenizer.AddedToken;
import roselle.tokenizer.model.Vocabulary;
import roselle.tokenizer.normalizer.NormalForm;
import roselle.tokenizer.normalizer.Normalizer;

/**
 * How many bytes of text one token can stand for. Known where every byte of a text reaches a byte-level model: no part drops or joins
 * text without limit, as unknown words, dropped spaces and other normal forms do.
 */
final class LongestToken {
    /** The composed normal form takes the bytes of at most three characters of three bytes for one of three. */
    private static final int COMPOSED = 4;

    private LongestToken() {}

    /** The bytes, or the largest number where there is no limit. */
    static long bytes(Pipeline parts) {
        Normalizer normalizer = parts.normalizer();
        boolean isKept = normalizer.equals(Normalizer.NONE) || normalizer.equals(NormalForm.NFC);
        if (!isKept || !parts.preTokenizer().keepsText() || !parts.model().readsEveryByte()) {
            return Long.MAX_VALUE;
        }
        long longest = longestSpelling(parts.vocabulary());
        for (AddedToken token : parts.added().all()) {
            if (token.lstrip() || token.rstrip()) {
                return Long.MAX_VALUE;
            }
            longest = Math.max(longest, 3L * token.content().length());
        }
        return Math.max(1, longest) * (normalizer.equals(Normalizer.NONE) ? 1 : COMPOSED);
    }

    /** In characters, each of which spells a byte, or more where a token is spelled in plain text. */
    private static long longestSpelling(Vocabulary vocabulary) {
        long longest = 1;
        for (int id = 0; id < vocabulary.size(); id++) {
            if (vocabulary.contains(id)) {
                longest = Math.max(longest, spelledBytes(vocabulary.spelling(id)));
            }
        }
        return longest;
    }

    private static long spelledBytes(String spelling) {
        boolean isPlain = spelling.chars().anyMatch(letter -> letter >= 0x144);
        return isPlain ? 3L * spelling.length() : spelling.length();
    }
}
