package roselle.jinja;

/** Measures how many levels of code lie on top of each other: what a call of them takes of the stack. */
final class CodeHeight {
    /** What a call takes beside its code. */
    private static final int CALL = 4;

    private int current;
    private int highest;

    void enter() {
        current++;
        highest = Math.max(highest, current);
    }

    void leave() {
        current--;
    }

    /** Begins a function's body; {@code end} needs what this returns. */
    int begin() {
        int outside = highest;
        highest = current;
        return outside;
    }

    /** The height of the body that ends here. */
    int end(int outside) {
        int height = highest - current + CALL;
        highest = Math.max(outside, highest);
        return height;
    }
}
