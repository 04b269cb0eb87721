package roselle.engine;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import roselle.backend.Phase;

/**
 * Where the time of a start went.
 *
 * @param phases one after the other, from the opening of the device until requests are taken
 * @param deviceParts what the device did in them, as far as it tells; the rest of its time went elsewhere
 */
public record StartTimeline(List<Phase> phases, List<Phase> deviceParts) {
    public StartTimeline {
        phases = List.copyOf(phases);
        deviceParts = List.copyOf(deviceParts);
    }

    public long totalNanos() {
        return phases.stream().mapToLong(Phase::nanos).sum();
    }

    /** The timeline as lines for people. */
    public String describe() {
        String all = line("start", seconds(totalNanos()) + " s: " + list(phases));
        return deviceParts.isEmpty() ? all : all + line("of these", list(deviceParts));
    }

    private static String line(String name, String value) {
        return String.format(Locale.ROOT, "%-10s %s%n", name, value);
    }

    static String list(List<Phase> phases) {
        return phases.stream()
                .map(phase -> phase.name() + " " + seconds(phase.nanos()))
                .collect(Collectors.joining(", "));
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.3f", nanos / 1e9);
    }
}
