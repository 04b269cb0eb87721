package roselle.bench.chart;

/**
 * How something is drawn.
 *
 * @param color 0xRRGGBB
 * @param opacity 0 to 1
 * @param width of lines, in pixels
 */
public record Ink(int color, double opacity, double width) {
    static final Ink FRAME = new Ink(0x999999, 1, 1);
    static final Ink GRID = new Ink(0xdddddd, 1, 1);
    static final Ink TEXT = new Ink(0x222222, 1, 1);

    /** Okabe and Ito's colours, which people with any colour vision tell apart. */
    private static final int[] SERIES = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000, 0x8a7a00
    };

    /** The colour of the n-th series. */
    static Ink series(int n) {
        return new Ink(SERIES[n % SERIES.length], 1, 1.8);
    }

    Ink faded(double share) {
        return new Ink(color, opacity * share, width);
    }

    String hex() {
        return String.format("#%06x", color);
    }
}
