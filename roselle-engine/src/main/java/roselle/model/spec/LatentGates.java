package roselle.model.spec;

/** By what the numbers that {@link AttentionSpec.Latent} attended to are multiplied, the sigmoids of a product of the input. */
public enum LatentGates {
    NONE,
    /** One for all numbers of a head. */
    OF_HEADS,
    /** One for each number. */
    OF_NUMBERS
}
