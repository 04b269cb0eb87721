package roselle.jinja.value;

import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** Python's range: numbers that are counted, not stored. */
public record Range(long start, long stop, long step) {
    public Range {
        if (step == 0) {
            throw new TemplateFault("range() arg 3 must not be zero");
        }
        if (length(start, stop, step) > Limits.RANGE) {
            throw new TemplateFault("range too big: at most " + Limits.RANGE + " numbers");
        }
    }

    public int length() {
        return (int) length(start, stop, step);
    }

    public long at(int index) {
        return start + index * step;
    }

    boolean contains(long value) {
        boolean inside = step > 0 ? value >= start && value < stop : value <= start && value > stop;
        return inside && (value - start) % step == 0;
    }

    private static long length(long start, long stop, long step) {
        boolean empty = step > 0 ? start >= stop : start <= stop;
        if (empty) {
            return 0;
        }
        // The distance may exceed a long; unsigned arithmetic holds it.
        long distance = step > 0 ? stop - start : start - stop;
        long stride = step > 0 ? step : -step;
        long rounds = Long.divideUnsigned(distance - 1, stride);
        return rounds < 0 || rounds >= Long.MAX_VALUE - 1 ? Long.MAX_VALUE : rounds + 1;
    }
}
