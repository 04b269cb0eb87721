package roselle.cuda.step;

import roselle.cuda.kernel.Launcher;

/**
 * What the launches of a step depend on, beside the model.
 *
 * @param outputs rows whose logits are wanted
 * @param isFew whether attention takes each row on its own, else in tiles of rows of a sequence
 * @param isSingle whether each sequence has one row, as in decoding
 * @param tablePages pages from the table of one sequence to that of the next
 * @param adaptation what is known of adapters, as a number; 0 where the step has none
 */
public record StepShape(int rows, int outputs, boolean isFew, boolean isSingle, int tablePages, int adaptation) {
    /** Up to so many rows of a sequence are taken one by one, if a grid has room for all of a step's. */
    private static final int FEW_ROWS = 4;

    /** Of no rows yet. */
    public static final StepShape NONE = new StepShape(0, 0, true, false, 0, 0);

    static StepShape of(int rows, int sequences, int outputs, int tablePages, int adaptation) {
        boolean isFew = rows <= (long) FEW_ROWS * sequences && rows <= Launcher.MAX_BLOCKS;
        return new StepShape(rows, outputs, isFew, isFew && rows == sequences, tablePages, adaptation);
    }
}
