package roselle.server.config;

import java.util.List;
import java.util.TreeSet;
import roselle.api.InvalidRequestException;

/**
 * How what the server measures is called.
 *
 * @param names whose names series have, of {@link #NAMES}; those that nobody of them has keep Roselle's
 */
public record MetricOptions(List<String> names) {
    public static final String OWN = "roselle";

    /** All that there are. */
    public static final List<String> NAMES = List.of(OWN, "vllm", "sglang");

    public static final MetricOptions DEFAULT = new MetricOptions(List.of(OWN));

    public MetricOptions {
        names = List.copyOf(names);
        var unknown = new TreeSet<>(names);
        NAMES.forEach(unknown::remove);
        if (!unknown.isEmpty() || names.isEmpty() || names.stream().distinct().count() < names.size()) {
            throw new InvalidRequestException("metrics names is " + String.join(",", names) + ": it must be some of "
                    + String.join(", ", NAMES) + ", each once");
        }
    }
}
