package roselle.server.config;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import roselle.api.InvalidRequestException;

/**
 * Which APIs are answered.
 *
 * @param served their names, of {@link #NAMES}
 */
public record DialectOptions(Set<String> served) {
    /** All that there are. */
    public static final List<String> NAMES =
            List.of("openai", "anthropic", "ollama", "llamacpp", "tgi", "kserve", "cohere", "tei");

    public static final DialectOptions DEFAULT = new DialectOptions(Set.copyOf(NAMES));

    public DialectOptions {
        served = Set.copyOf(served);
        var unknown = new TreeSet<>(served);
        NAMES.forEach(unknown::remove);
        if (!unknown.isEmpty()) {
            throw new InvalidRequestException(
                    "dialects has " + unknown.first() + ": there are " + String.join(", ", NAMES));
        }
        if (served.isEmpty()) {
            throw new InvalidRequestException("dialects is empty: name at least one of " + String.join(", ", NAMES));
        }
    }
}
