package roselle.cpu.machine;

/** What the factors of a product are rounded to; its sums are float32 always. */
public enum Compute {
    /** Nothing is rounded. */
    F32,
    /** Activations are rounded to bfloat16; so are weights of float16 and float32. */
    BF16;

    /** Bytes of an activation. */
    public int bytes() {
        return this == F32 ? Float.BYTES : Short.BYTES;
    }
}
