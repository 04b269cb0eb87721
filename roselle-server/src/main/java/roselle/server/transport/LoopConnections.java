package roselle.server.transport;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The connections of an event loop, whose deadlines it looks at a few times a second. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class LoopConnections {
    private static final long ROUND_MILLIS = 200;

    private final Set<Connection> open = new HashSet<>();

    LoopConnections(EventLoop loop) {
        loop.scheduleWithFixedDelay(this::check, ROUND_MILLIS, ROUND_MILLIS, TimeUnit.MILLISECONDS);
    }

    void add(Channel channel, Connection connection) {
        open.add(connection);
        channel.closeFuture().addListener(_ -> open.remove(connection));
    }

    private void check() {
        long now = System.nanoTime();
        List.copyOf(open).forEach(connection -> connection.check(now));
    }

    /** Each ends when its calls are over. */
    void end() {
        List.copyOf(open).forEach(Connection::end);
    }

    void close() {
        List.copyOf(open).forEach(Connection::closeNow);
    }
}
