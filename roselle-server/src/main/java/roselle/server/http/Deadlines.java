package roselle.server.http;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import roselle.server.config.TimeLimits;

/**
 * Closes connections whose peers take longer than they may: to say anything, to send a request's head or its body, to take a
 * part of an answer.
 *
 * <p>The web server below waits for bytes without an end once a request has begun, so a peer that sends one now and then would
 * hold its thread for days. Here one thread looks at all connections twice a second; the requests' own threads only note when
 * they begin to wait.
 */
final class Deadlines implements AutoCloseable {
    private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final TimeLimits limits;
    private final Map<SocketAddress, Guest> guests = new ConcurrentHashMap<>();
    private final Thread watch;
    private volatile boolean isClosed;

    /** A connection that was accepted, and later, when its protocol is known, what it does. */
    private static final class Guest {
        private final SocketChannel channel;
        private final long arrivalDeadline;
        private volatile @Nullable LiveConnection connection;

        Guest(SocketChannel channel, long arrivalDeadline) {
            this.channel = channel;
            this.arrivalDeadline = arrivalDeadline;
        }

        boolean isOverdue(long now) {
            LiveConnection known = connection;
            return known == null ? now - arrivalDeadline > 0 : known.isOverdue(now);
        }
    }

    Deadlines(TimeLimits limits) {
        this.limits = limits;
        watch = Thread.ofPlatform().name("roselle-deadlines").daemon(true).start(this::watch);
    }

    TimeLimits limits() {
        return limits;
    }

    /** A connection was accepted; nothing is known of it yet. */
    void arrived(SocketChannel channel) {
        try {
            SocketAddress peer = channel.getRemoteAddress();
            if (peer != null) {
                guests.put(
                        peer,
                        new Guest(channel, System.nanoTime() + limits.idle().toNanos()));
            }
        } catch (IOException gone) {
            // closed already
        }
    }

    /** The protocol of a connection is known: from here on the connection itself says what it waits for. */
    void identified(SocketAddress peer, LiveConnection connection) {
        Guest guest = guests.get(peer);
        if (guest != null) {
            guest.connection = connection;
        }
    }

    private void watch() {
        while (!isClosed) {
            LockSupport.parkNanos(ROUND_NANOS);
            long now = System.nanoTime();
            for (Iterator<Guest> each = guests.values().iterator(); each.hasNext(); ) {
                Guest guest = each.next();
                if (!guest.channel.isOpen()) {
                    each.remove();
                } else if (guest.isOverdue(now)) {
                    each.remove();
                    close(guest.channel);
                }
            }
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException gone) {
            // then it is closed
        }
    }

    @Override
    public void close() {
        isClosed = true;
        LockSupport.unpark(watch);
    }
}
