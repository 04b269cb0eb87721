package roselle.cpu.machine;

/** What the factors of a product are rounded to; its sums are float32 always. */
public enum Compute {
    /** Nothing is rounded. */
    F32,
    /** Activations are rounded to bfloat16; so are weights of float16 and float32. */
    BF16,
    /**
     * Each factor becomes the sum of two bfloat16 numbers, it rounded and what is left of it rounded, which are some 17 bits of
     * its significand; the product of the two smaller parts is left out. Only AMX tiles multiply so.
     */
    SPLIT,
    /** Activations are rounded to bytes, with a scale for each 32; the code has no attention of its own. */
    INT8;

    /** Bytes of an activation. */
    public int bytes() {
        return switch (this) {
            case F32, SPLIT -> Float.BYTES;
            case BF16 -> Short.BYTES;
            case INT8 -> Byte.BYTES;
        };
    }
}
