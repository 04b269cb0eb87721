package roselle.checkpoint.file;

/**
 * A length, offset or count that a file states: never negative, and checked at each step of arithmetic.
 *
 * <p>Every such number is read as one of these, so a check cannot be made at one place and forgotten at its sibling.
 * Anything that does not fit is a {@code CheckpointException} naming the field and the value as they stand in the file.
 *
 * @param field where the number stands
 * @param stated the number in the file, unsigned
 * @param value the result of the arithmetic so far
 */
public record CheckedSize(FileField field, long stated, long value) {
    public static CheckedSize of(FileField field, long stated) {
        if (stated < 0) {
            throw field.malformed(Long.toUnsignedString(stated), "larger than any file");
        }
        return new CheckedSize(field, stated, stated);
    }

    public CheckedSize plus(long addend) {
        long sum = value + addend;
        if (addend < 0 || sum < 0) {
            throw field.malformed(stated, "added to " + addend + " it exceeds 63 bits");
        }
        return new CheckedSize(field, stated, sum);
    }

    CheckedSize times(long factor) {
        if (factor < 0 || Math.multiplyHigh(value, factor) != 0 || value * factor < 0) {
            throw field.malformed(stated, value + " times " + factor + " exceeds 63 bits");
        }
        return new CheckedSize(field, stated, value * factor);
    }

    public CheckedSize multipleOf(long unit, String what) {
        if (value % unit != 0) {
            throw field.malformed(stated, "not a multiple of " + what + " " + unit);
        }
        return this;
    }

    /** This size if it is at most {@code limit}; {@code what} says whose limit that is. */
    public CheckedSize atMost(long limit, String what) {
        if (value > limit) {
            throw field.malformed(stated, (value == stated ? "" : value + " is ") + "more than " + what + " " + limit);
        }
        return this;
    }

    public int asInt() {
        return (int) atMost(Integer.MAX_VALUE, "the largest 32-bit integer").value;
    }
}
