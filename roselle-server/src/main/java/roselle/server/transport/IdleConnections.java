package roselle.server.transport;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The connections that wait for a request, in the order in which they began to; thread-safe. */
final class IdleConnections {
    private final Set<Connection> idle = new LinkedHashSet<>();

    /** From now on a connection waits for a request. */
    synchronized void add(Connection connection) {
        idle.remove(connection);
        idle.add(connection);
    }

    synchronized void remove(Connection connection) {
        idle.remove(connection);
    }

    /** Ends the one that has waited longest, if there is one. */
    void endLongest() {
        Connection longest = takeLongest();
        if (longest != null) {
            longest.endIfIdle();
        }
    }

    private synchronized @Nullable Connection takeLongest() {
        Iterator<Connection> all = idle.iterator();
        if (!all.hasNext()) {
            return null;
        }
        Connection longest = all.next();
        all.remove();
        return longest;
    }
}
