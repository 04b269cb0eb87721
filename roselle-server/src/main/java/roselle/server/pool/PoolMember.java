package roselle.server.pool;

import java.time.Duration;
import java.util.List;

/**
 * A model as a pool gets it.
 *
 * @param name what it is called
 * @param aliases other names that mean it
 * @param isPinned whether it never goes for another
 * @param keepAlive how long it stays after its last request; negative: until its memory is needed
 * @param share of the memory that several models want, in relation to theirs
 */
public record PoolMember<E>(
        String name, List<String> aliases, ModelSource<E> source, boolean isPinned, Duration keepAlive, double share) {
    public PoolMember {
        aliases = List.copyOf(aliases);
    }

    /** One whose share is as large as that of others. */
    public PoolMember(String name, List<String> aliases, ModelSource<E> source, boolean isPinned, Duration keepAlive) {
        this(name, aliases, source, isPinned, keepAlive, 1);
    }
}
