package roselle.bench.chart;

import java.util.List;

/** What pictures are drawn on; coordinates are pixels from the upper left corner. */
interface Canvas {
    /** A place. */
    record Point(double x, double y) {}

    /** Where a text stands relative to its point. */
    enum Anchor {
        START,
        MIDDLE,
        END
    }

    void line(List<Point> points, Ink ink);

    void area(List<Point> corners, Ink ink);

    /** A circle, filled or hollow. */
    void circle(Point center, double radius, boolean isFilled, Ink ink);

    /** A text on its base line; {@code isUpward} turns it by a quarter, to be read from below. */
    void text(Point at, String text, int size, Anchor anchor, boolean isUpward);
}
