package roselle.model.weights;

/** Small arrays of numbers: norms, biases, sinks. */
public final class Floats {
    private Floats() {}

    /** Several arrays as one. */
    public static float[] concatenate(float[]... parts) {
        int length = 0;
        for (float[] part : parts) {
            length += part.length;
        }
        var all = new float[length];
        int at = 0;
        for (float[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }
}
