package roselle.tokenizer;

/**
 * What encoding does beyond the text itself.
 *
 * @param addSpecial add the tokens that the model expects around a text (a beginning of sequence, say)
 * @param parseSpecial read spellings of special tokens in the text as these tokens, not as plain text
 * @param guarded drop each {@link #GUARD} once special tokens have been looked for
 */
public record EncodeOptions(boolean addSpecial, boolean parseSpecial, boolean guarded) {
    /**
     * Keeps special tokens from being recognised in guarded text: one that has this noncharacter within its spelling is plain
     * text. So text from strangers can stand in a prompt whose own special tokens are parsed.
     */
    public static final char GUARD = '\uFDD0';

    /** The text and nothing else. */
    public static final EncodeOptions PLAIN = new EncodeOptions(false, false);

    /** Text without guards. */
    public EncodeOptions(boolean addSpecial, boolean parseSpecial) {
        this(addSpecial, parseSpecial, false);
    }
}
