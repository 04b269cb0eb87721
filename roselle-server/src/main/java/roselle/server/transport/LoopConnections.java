package roselle.server.transport;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The connections of an event loop, whose deadlines it looks at a few times a second. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class LoopConnections {
    private static final long ROUND_MILLIS = 200;

    private static final System.Logger LOG = System.getLogger(LoopConnections.class.getName());

    private final Set<Connection> open = new HashSet<>();
    private volatile long lastRound = System.nanoTime();

    LoopConnections(EventLoop loop) {
        loop.scheduleWithFixedDelay(this::round, ROUND_MILLIS, ROUND_MILLIS, TimeUnit.MILLISECONDS);
    }

    void add(Channel channel, Connection connection) {
        open.add(connection);
        channel.closeFuture().addListener(_ -> open.remove(connection));
        connection.begin();
    }

    /** How long it has been since the loop last looked; any thread. */
    Duration sinceLastRound() {
        return Duration.ofNanos(System.nanoTime() - lastRound);
    }

    /** Whatever goes wrong, the next round comes: deadlines that nobody looks at would hold connections for good. */
    private void round() {
        lastRound = System.nanoTime();
        try {
            List.copyOf(open).forEach(connection -> check(connection, lastRound));
        } catch (OutOfMemoryError memory) {
            tell(memory);
        }
    }

    private static void check(Connection connection, long now) {
        try {
            connection.check(now);
        } catch (RuntimeException | Error failure) {
            tell(failure);
        }
    }

    private static void tell(Throwable failure) {
        try {
            LOG.log(System.Logger.Level.ERROR, "event=deadlines_not_kept until=next_round", failure);
        } catch (OutOfMemoryError _) {
            return; // unsaid, for want of memory; the next round tries again
        }
    }

    /** Each ends when its calls are over. */
    void end() {
        List.copyOf(open).forEach(Connection::end);
    }

    void close() {
        List.copyOf(open).forEach(Connection::closeNow);
    }
}
