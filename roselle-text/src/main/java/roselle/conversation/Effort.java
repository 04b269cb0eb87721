package roselle.conversation;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * How much a model is to think and to write, told to chat templates by the variables that released ones have for it.
 *
 * @param mentions whether the chat template mentions a variable of a name
 */
public record Effort(Predicate<String> mentions) {
    /** How much to think, least first. */
    public static final List<String> THINKING = List.of("none", "minimal", "low", "medium", "high", "xhigh", "max");

    /** How much to write, least first. */
    public static final List<String> VERBOSITIES = List.of("low", "medium", "high");

    /** The variable that lets a model think, or not. */
    public static final String ENABLE_THINKING = "enable_thinking";

    private static final String REASONING_EFFORT = "reasoning_effort";
    private static final String VERBOSITY = "verbosity";

    /** The variables that say how much to think; empty where the template has no word for it. */
    public Optional<Map<String, Object>> think(String effort) {
        if (mentions.test(REASONING_EFFORT)) {
            return Optional.of(Map.of(REASONING_EFFORT, effort));
        }
        boolean thinks = !effort.equals("none");
        if (mentions.test(ENABLE_THINKING)) {
            return Optional.of(Map.of(ENABLE_THINKING, thinks));
        }
        return thinks ? Optional.empty() : Optional.of(Map.of());
    }

    /**
     * The variables that say how much to think where the model thinks anyway, none where its template can only switch that; empty where
     * it has no word for thoughts.
     */
    public Optional<Map<String, Object>> scale(String effort) {
        return mentions.test(REASONING_EFFORT) ? think(effort) : think(effort).map(_ -> Map.of());
    }

    /** The variables that say how much to write; empty where the template has no word for it. */
    public Optional<Map<String, Object>> write(String verbosity) {
        if (mentions.test(VERBOSITY)) {
            return Optional.of(Map.of(VERBOSITY, verbosity));
        }
        return verbosity.equals("medium") ? Optional.of(Map.of()) : Optional.empty();
    }
}
