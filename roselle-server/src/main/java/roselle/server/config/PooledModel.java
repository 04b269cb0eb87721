package roselle.server.config;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import roselle.api.InvalidRequestException;
import roselle.engine.EngineConfig;

/**
 * A model that a server loads when it is asked for.
 *
 * @param name what clients call it
 * @param aliases other names that mean it
 * @param engine how it is opened
 * @param isPinned whether it is loaded at the start, and never goes for another
 * @param keepAlive how long it stays after its last request, where that does not say; negative: until its memory is needed
 */
public record PooledModel(
        String name, List<String> aliases, EngineConfig engine, boolean isPinned, Duration keepAlive) {
    /** Until the memory is needed. */
    public static final Duration WHILE_THERE_IS_ROOM = Duration.ofSeconds(-1);

    /** A hundred years, which still is a number of nanoseconds. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    public PooledModel {
        aliases = List.copyOf(aliases);
        if (keepAlive.compareTo(LONGEST) > 0) {
            throw new InvalidRequestException("keep alive is " + keepAlive + ": it must be at most " + LONGEST);
        }
        if (name.isBlank() || aliases.stream().anyMatch(String::isBlank)) {
            throw new InvalidRequestException("a model has an empty name: give it one");
        }
    }

    /** A model of no other names that stays until its memory is needed. */
    public static PooledModel of(String name, EngineConfig engine) {
        return new PooledModel(name, List.of(), engine, false, WHILE_THERE_IS_ROOM);
    }

    /** All names that mean it. */
    Stream<String> names() {
        return Stream.concat(Stream.of(name), aliases.stream());
    }
}
