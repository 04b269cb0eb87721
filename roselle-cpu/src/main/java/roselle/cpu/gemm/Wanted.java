package roselle.cpu.gemm;

import roselle.cpu.machine.panel.Panel;

/**
 * Which parts of a matrix of logits a step's rows want: whole panels, of which a mask allows any output.
 *
 * <p>Each row reads its panels for itself, so that pays where all rows together want an eighth of the matrix at most. Where one wants
 * all of it, the matrix is read anyway, and multiplied with all rows.
 */
final class Wanted {
    private static final int SHARE = 8;
    private static final int PANELS_OF_WORD = Long.SIZE / Panel.OUTPUTS;
    private static final long PANEL = (1L << Panel.OUTPUTS) - 1;

    private long[][] masks = new long[0][];

    /** Takes the masks of a step; returns whether they allow few enough logits. */
    boolean areFew(long[][] wantedOfRows, int rows, int outputs) {
        masks = wantedOfRows;
        int left = outputs / Panel.OUTPUTS / SHARE;
        for (int row = 0; row < rows && left >= 0; row++) {
            left -= masks[row].length == 0 ? left + 1 : panels(masks[row], left);
        }
        return left >= 0;
    }

    /** Panels of a mask, which are counted no further than one more than {@code most}. */
    private static int panels(long[] mask, int most) {
        int panels = 0;
        for (int word = 0; word < mask.length && panels <= most; word++) {
            for (long rest = mask[word]; rest != 0; rest &= ~(PANEL << shift(rest))) {
                panels++;
            }
        }
        return panels;
    }

    /** Where the panel of the lowest bit begins in its word. */
    private static int shift(long bits) {
        return (Long.numberOfTrailingZeros(bits) / Panel.OUTPUTS) * Panel.OUTPUTS;
    }

    private boolean isWanted(int row, int panel) {
        long word = masks[row][panel / PANELS_OF_WORD];
        int shift = (panel % PANELS_OF_WORD) * Panel.OUTPUTS;
        return ((word >>> shift) & PANEL) != 0;
    }

    /** The first output of a wanted panel, from {@code from} on; {@code end} where there is none before that. */
    int next(int row, int from, int end) {
        int output = from;
        while (output < end && !isWanted(row, output / Panel.OUTPUTS)) {
            boolean isNoneInWord = masks[row][output / Long.SIZE] == 0;
            output = isNoneInWord ? (output / Long.SIZE + 1) * Long.SIZE : panelAfter(output);
        }
        return Math.min(output, end);
    }

    /** Where the wanted panels end that follow each other from {@code from} on. */
    int end(int row, int from, int end) {
        int output = from;
        while (output < end && isWanted(row, output / Panel.OUTPUTS)) {
            output = panelAfter(output);
        }
        return Math.min(output, end);
    }

    private static int panelAfter(int output) {
        return (output / Panel.OUTPUTS + 1) * Panel.OUTPUTS;
    }
}
