package roselle.bench.chart;

import java.util.List;
import roselle.bench.chart.Canvas.Anchor;
import roselle.bench.chart.Canvas.Point;

/** A frame with two axes; maps values to places within. */
final class Panel {
    private static final int LEFT = 58;
    private static final int RIGHT = 12;
    private static final int TOP = 26;
    private static final int BOTTOM = 40;

    private final Canvas canvas;
    private final double x;
    private final double y;
    private final double width;
    private final double height;
    private final Axis across;
    private final Axis up;

    /** Draws the frame and its axes into a part of a canvas; {@code names} label places across, or it has numbers. */
    Panel(Canvas canvas, Area area, String title, Axis across, Axis up, List<String> names) {
        this.canvas = canvas;
        this.across = across;
        this.up = up;
        x = area.x() + LEFT;
        y = area.y() + TOP;
        width = area.width() - LEFT - RIGHT;
        height = area.height() - TOP - BOTTOM;
        canvas.text(new Point(x + width / 2, y - 9), title, 14, Anchor.MIDDLE, false);
        axes(names);
    }

    /** A part of a canvas. */
    record Area(double x, double y, double width, double height) {}

    private void axes(List<String> names) {
        for (double tick : up.ticks()) {
            double at = place(across.least(), tick).y();
            canvas.line(List.of(new Point(x, at), new Point(x + width, at)), Ink.GRID);
            canvas.text(new Point(x - 5, at + 4), Axis.text(tick), 11, Anchor.END, false);
        }
        if (names.isEmpty()) {
            for (double tick : across.ticks()) {
                double at = place(tick, up.least()).x();
                canvas.line(List.of(new Point(at, y), new Point(at, y + height)), Ink.GRID);
                canvas.text(new Point(at, y + height + 15), Axis.text(tick), 11, Anchor.MIDDLE, false);
            }
        }
        for (int i = 0; i < names.size(); i++) {
            canvas.text(new Point(place(i, up.least()).x(), y + height + 15), names.get(i), 11, Anchor.MIDDLE, false);
        }
        canvas.line(
                List.of(
                        new Point(x, y),
                        new Point(x, y + height),
                        new Point(x + width, y + height),
                        new Point(x + width, y),
                        new Point(x, y)),
                Ink.FRAME);
        canvas.text(new Point(x + width / 2, y + height + 32), across.label(), 12, Anchor.MIDDLE, false);
        canvas.text(new Point(x - 44, y + height / 2), up.label(), 12, Anchor.MIDDLE, true);
    }

    /** Where two values meet. */
    Point place(double valueAcross, double valueUp) {
        double right = Math.clamp(across.share(valueAcross), 0, 1);
        double above = Math.clamp(up.share(valueUp), 0, 1);
        return new Point(x + right * width, y + (1 - above) * height);
    }

    Canvas canvas() {
        return canvas;
    }

    /** Names of the series with their colours, in rows, beginning at a place. */
    static void legend(Canvas canvas, double x, double y, double width, List<String> names) {
        double at = x;
        double row = y;
        for (int i = 0; i < names.size(); i++) {
            double size = 28 + names.get(i).length() * 7.0;
            if (at + size > x + width && at > x) {
                at = x;
                row += 18;
            }
            canvas.line(
                    List.of(new Point(at, row - 4), new Point(at + 18, row - 4)),
                    new Ink(Ink.series(i).color(), 1, 4));
            canvas.text(new Point(at + 23, row), names.get(i), 12, Anchor.START, false);
            at += size + 14;
        }
    }
}
