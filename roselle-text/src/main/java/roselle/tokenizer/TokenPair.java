package roselle.tokenizer;

/**
 * Two texts as one input of an encoder.
 *
 * @param ids token ids, with the tokens that the model expects around and between the texts
 * @param types for each id the text that it counts with, as the model was trained
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, and read once
public record TokenPair(int[] ids, int[] types) {}
