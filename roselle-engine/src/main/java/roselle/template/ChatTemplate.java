package roselle.template;

import java.time.LocalDateTime;
import java.util.Map;

/** A compiled chat template: variables in, a prompt out. Immutable and thread-safe. */
public interface ChatTemplate {
    /**
     * Renders the template.
     *
     * @param variables strings, numbers, booleans, null, {@code List}s and {@code Map}s with string keys, nested
     * @param now what {@code strftime_now} formats
     * @throws roselle.api.InvalidRequestException naming line and column
     */
    String render(Map<String, ?> variables, LocalDateTime now);
}
