package roselle.tokenizer;

import java.util.OptionalInt;
import roselle.api.CheckpointException;

/** Turns text into token ids and back; immutable and thread-safe. */
public interface Tokenizer {
    /** The ids of {@code text}. Lone surrogates are read as U+FFFD. */
    int[] encode(String text, EncodeOptions options);

    /** The same, told how far it is. */
    default int[] encode(String text, EncodeOptions options, EncodeProgress progress) {
        return encode(text, options);
    }

    /** The ids of a text with the tokens that the model expects around it. */
    default int[] withSpecial(int[] ids) {
        return ids;
    }

    /** The ids of two texts as one input; a {@code CheckpointException} where the tokenizer knows no pairs. */
    default TokenPair pair(int[] first, int[] second) {
        throw new CheckpointException("the tokenizer says nothing of pairs of texts: use one of a model made for them");
    }

    /** The ids of a text of so many bytes of UTF-8 are no fewer than this, whatever it says; 0 where nothing is known. */
    default long leastIds(long utf8Bytes) {
        return 0;
    }

    /** The text of {@code ids}; bytes that are not UTF-8 become U+FFFD. */
    String decode(int[] ids, boolean skipSpecial);

    /** A decoder that takes one id at a time and never emits half a character. */
    IncrementalDecoder incrementalDecoder(boolean skipSpecial);

    /** Ids are 0 until this number. */
    int vocabularySize();

    /** Whether an id is that of a token: a vocabulary may have holes, and a model more logits than there are tokens. */
    boolean hasToken(int id);

    /** The id of a token by its spelling in the vocabulary file. */
    OptionalInt idOf(String token);

    /** A token's spelling in the vocabulary file. */
    String spellingOf(int id);

    /** The bytes that a token stands for in the output; empty for special tokens. */
    byte[] bytesOf(int id);

    /** Whether the id marks structure (begin, end, role) and not text. */
    boolean isSpecial(int id);
}
