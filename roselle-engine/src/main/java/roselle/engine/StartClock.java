package roselle.engine;

import java.util.ArrayList;
import java.util.List;
import roselle.backend.Phase;

/** Measures the phases of a start, each from the end of the one before. */
final class StartClock {
    private final List<Phase> phases = new ArrayList<>();
    private long lastNanos = System.nanoTime();

    /** A phase is over. */
    void lap(String name) {
        long now = System.nanoTime();
        phases.add(new Phase(name, now - lastNanos));
        lastNanos = now;
    }

    /** A phase is over, of which a part was another one. */
    void lap(String name, String part, long partNanos) {
        long now = System.nanoTime();
        phases.add(new Phase(name, now - lastNanos - partNanos));
        phases.add(new Phase(part, partNanos));
        lastNanos = now;
    }

    StartTimeline timeline(List<Phase> deviceParts) {
        return new StartTimeline(phases, deviceParts);
    }
}
