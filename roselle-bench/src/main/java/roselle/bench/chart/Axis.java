package roselle.bench.chart;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The values along one side of a panel.
 *
 * @param isLogarithmic where values differ by more than a picture can show evenly
 */
record Axis(String label, double least, double most, boolean isLogarithmic) {
    private static final double WIDE = 60;

    /** From 0 to a little above the largest value. */
    static Axis fromZero(String label, double most) {
        return new Axis(label, 0, most > 0 ? most * 1.06 : 1, false);
    }

    /** Linear from 0, or logarithmic where the values are wide apart. */
    static Axis of(String label, double least, double most) {
        return least > 0 && most / least > WIDE
                ? new Axis(label, least / 1.2, most * 1.2, true)
                : fromZero(label, most);
    }

    /** Places of categories: 0, 1, … count − 1, with half a place on each side. */
    static Axis places(String label, int count) {
        return new Axis(label, -0.5, count - 0.5, false);
    }

    /** Where a value lies, from 0 to 1. */
    double share(double value) {
        if (isLogarithmic) {
            return Math.log(Math.max(value, least) / least) / Math.log(most / least);
        }
        return (value - least) / (most - least);
    }

    /** Round values within the axis. */
    List<Double> ticks() {
        return isLogarithmic ? decades() : steps();
    }

    private List<Double> steps() {
        double rough = (most - least) / 5;
        double unit = Math.pow(10, Math.floor(Math.log10(rough)));
        double step =
                rough / unit < 1.5 ? unit : rough / unit < 3.5 ? 2 * unit : rough / unit < 7.5 ? 5 * unit : 10 * unit;
        var ticks = new ArrayList<Double>();
        for (double at = Math.ceil(least / step) * step; at <= most + step * 1e-9; at += step) {
            ticks.add(at);
        }
        return ticks;
    }

    private List<Double> decades() {
        var ticks = new ArrayList<Double>();
        for (double decade = Math.pow(10, Math.floor(Math.log10(least))); decade <= most; decade *= 10) {
            for (double digit : new double[] {1, 2, 5}) {
                if (digit * decade >= least && digit * decade <= most) {
                    ticks.add(digit * decade);
                }
            }
        }
        return ticks;
    }

    /** A tick's value for people. */
    static String text(double value) {
        if (value == 0) {
            return "0";
        }
        double size = Math.abs(value);
        if (size >= 10_000) {
            return trimmed(value / 1000) + "k";
        }
        return size >= 1 ? trimmed(value) : String.format(Locale.ROOT, "%.2g", value);
    }

    private static String trimmed(double value) {
        String text = String.format(Locale.ROOT, "%.1f", value);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }
}
