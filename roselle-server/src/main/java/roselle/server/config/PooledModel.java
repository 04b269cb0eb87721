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
 * @param memory its part of what all models have for keys and values
 */
public record PooledModel(
        String name, List<String> aliases, EngineConfig engine, boolean isPinned, Duration keepAlive, Memory memory) {
    /**
     * A model's part of the memory for keys and values, where its device can move that between models.
     *
     * @param guarantee bytes that it always has while it is loaded; at least what one sequence of full length needs
     * @param share of what several models want beyond that, in relation to theirs
     */
    public record Memory(long guarantee, double share) {
        /** What one sequence needs, and as much as others beyond that. */
        public static final Memory USUAL = new Memory(0, 1);

        public Memory {
            if (guarantee < 0) {
                throw new InvalidRequestException(
                        "the guarantee of a model is " + guarantee + " bytes: it must be at least 0");
            }
            if (!(share >= 0.01 && share <= 100)) {
                throw new InvalidRequestException(
                        "the share of a model is " + share + ": it must be between 0.01 and 100");
            }
        }
    }

    /** A model whose part of the memory is as large as that of others. */
    public PooledModel(String name, List<String> aliases, EngineConfig engine, boolean isPinned, Duration keepAlive) {
        this(name, aliases, engine, isPinned, keepAlive, Memory.USUAL);
    }

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
