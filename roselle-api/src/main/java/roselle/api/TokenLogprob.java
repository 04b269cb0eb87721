package roselle.api;

/**
 * A token and the natural logarithm of its probability, from the raw logits.
 *
 * @param text the token's bytes as text, U+FFFD where they are not whole characters
 */
public record TokenLogprob(int id, String text, float logprob) {}
