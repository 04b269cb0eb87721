package roselle.tokenizer;

/** Text from ids, one at a time; the pieces joined are what decoding all ids at once gives. Not thread-safe. */
public interface IncrementalDecoder {
    /** The text that is certain once {@code id} is known; empty while a character is incomplete. */
    String append(int id);

    /** What was held back: U+FFFD for each incomplete character at the end. */
    String finish();
}
