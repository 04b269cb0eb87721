package roselle.model.spec;

/**
 * How attention and feed-forward are wired to the residual stream, the same in all layers.
 *
 * @param normsInputs whether each half normalises what it reads
 * @param normsOutputs whether each half normalises what it adds
 * @param parallel whether both halves read the same stream
 * @param sharesNorm whether both halves of a parallel block read the same normalised numbers
 * @param residualScale multiplies what each half adds
 */
public record BlockSpec(
        boolean normsInputs, boolean normsOutputs, boolean parallel, boolean sharesNorm, float residualScale) {
    public BlockSpec {
        if (parallel && (normsOutputs || !normsInputs)) {
            throw new IllegalArgumentException("a parallel block normalises its input alone");
        }
    }
}
