package roselle.backend.operation;

/**
 * By what queries are multiplied, more the further they are from the beginning (Llama 4):
 * {@code 1 + share * ln(1 + floor((position + first) / tokens))}.
 *
 * @param tokens how many in a row have one factor
 * @param first number of the first position, 0 or 1
 */
public record PositionScale(float share, int tokens, int first) {
    public PositionScale {
        if (tokens < 1 || first < 0 || first > 1 || !Float.isFinite(share)) {
            throw new IllegalArgumentException("queries cannot grow by " + share + " every " + tokens + " tokens");
        }
    }

    /** The factor of a position. */
    public float at(int position) {
        int steps = (int) ((position + (long) first) / tokens);
        return steps == 0 ? 1f : (float) (1 + share * StrictMath.log1p(steps));
    }
}
