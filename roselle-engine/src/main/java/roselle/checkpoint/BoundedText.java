package roselle.checkpoint;

import roselle.api.CheckpointException;

/** A name that a checkpoint's regular expression may look at for so long: some would take for ever. */
public final class BoundedText implements CharSequence {
    private static final int MOST_STEPS = 100_000;

    private final String text;
    private final String failure;
    private int steps;

    /** A text, and what is said when an expression has looked at it for too long. */
    public BoundedText(String text, String failure) {
        this.text = text;
        this.failure = failure;
    }

    /**
     * A character.
     *
     * @throws CheckpointException with the failure after 100,000 of them
     */
    @Override
    public char charAt(int index) {
        if (++steps > MOST_STEPS) {
            throw new CheckpointException(failure);
        }
        return text.charAt(index);
    }

    @Override
    public int length() {
        return text.length();
    }

    @Override
    public CharSequence subSequence(int start, int end) {
        return text.substring(start, end);
    }

    @Override
    public String toString() {
        return text;
    }
}
