package roselle.bench.environment;

import java.util.HashMap;
import java.util.Map;

/** Joules from lines of {@code index, watts}: the area under each card's power, by trapezoids. */
final class PowerIntegral {
    private record Reading(double watts, long nanos) {}

    private final Map<String, Reading> last = new HashMap<>();
    private double joules;

    synchronized void add(String line, long nanos) {
        int comma = line.indexOf(',');
        String watts = line.substring(comma + 1).strip();
        if (comma < 0 || !isNumber(watts)) {
            return; // a card that tells no power
        }
        var reading = new Reading(Double.parseDouble(watts), nanos);
        Reading before = last.put(line.substring(0, comma), reading);
        if (before != null) {
            joules += (before.watts + reading.watts) / 2 * (reading.nanos - before.nanos) / 1e9;
        }
    }

    synchronized double joules() {
        return joules;
    }

    static boolean isNumber(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
    }
}
