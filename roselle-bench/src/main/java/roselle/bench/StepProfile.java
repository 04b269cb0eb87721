package roselle.bench;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Where the time of steps goes, by kind of operation; one thread's own. */
final class StepProfile {
    /** A kind of {@link roselle.backend.operation.Operations}; what is one call is one kind, whether or not the device fuses it. */
    enum Kind {
        PRODUCTS,
        /** With the norms before them. */
        NORMED_PRODUCTS,
        /** With their gates, and the norms before them. */
        GATED_PRODUCTS,
        /** With rotation and appending. */
        ATTENTION,
        /** Of latent attention, which is apart. */
        ROTATION,
        NORMS,
        GATES,
        /** Their choice, their products with their gates, and the sum. */
        EXPERTS,
        ADAPTERS,
        LOGITS,
        OTHERS
    }

    private final Map<Kind, Watch> watches = new EnumMap<>(Kind.class);
    private long steps;
    private long total;

    private static final class Watch {
        private long nanos;
    }

    StepProfile() {
        for (Kind kind : Kind.values()) {
            watches.put(kind, new Watch());
        }
    }

    void clear() {
        watches.values().forEach(watch -> watch.nanos = 0);
        steps = 0;
        total = 0;
    }

    void add(Kind kind, long spent) {
        Objects.requireNonNull(watches.get(kind)).nanos += spent;
    }

    void addStep(long spent) {
        steps++;
        total += spent;
    }

    /** An average step, and what kinds of operations take of it, the meetings of threads included. */
    String describe() {
        if (steps == 0) {
            return "no step";
        }
        var text = new StringBuilder(String.format(Locale.ROOT, "a step takes %.2f ms", total / 1e6 / steps));
        long rest = total;
        for (Map.Entry<Kind, Watch> entry : watches.entrySet()) {
            rest -= entry.getValue().nanos;
            append(text, entry.getKey().name().toLowerCase(Locale.ROOT).replace('_', ' '), entry.getValue().nanos);
        }
        append(text, "between them", rest);
        return text.toString();
    }

    private void append(StringBuilder text, String name, long spent) {
        if (spent != 0) {
            text.append(String.format(Locale.ROOT, ", %s %.1f %%", name, 100.0 * spent / total));
        }
    }
}
