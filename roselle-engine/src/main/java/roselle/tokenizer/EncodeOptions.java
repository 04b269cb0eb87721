package roselle.tokenizer;

/**
 * What encoding does beyond the text itself.
 *
 * @param addSpecial add the tokens that the model expects around a text (a beginning of sequence, say)
 * @param parseSpecial read spellings of special tokens in the text as these tokens, not as plain text
 */
public record EncodeOptions(boolean addSpecial, boolean parseSpecial) {
    /** The text and nothing else. */
    public static final EncodeOptions PLAIN = new EncodeOptions(false, false);
}
