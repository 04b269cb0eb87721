package roselle.server.http;

import java.util.ArrayList;
import java.util.List;

/** The liveness of one request's peer: whether it has disconnected, and until when it may take what it takes; thread-safe. */
final class PeerLiveness implements AutoCloseable {
    private final LiveConnection connection;
    private final int stream;
    private final List<Runnable> actions = new ArrayList<>();
    private boolean isGone;
    private boolean isOver;
    private volatile long deadline = LiveConnection.NONE;

    /**
     * A request's.
     *
     * @param stream its stream on the connection in HTTP/2, {@link LiveConnection#WHOLE} in HTTP/1.1
     */
    PeerLiveness(LiveConnection connection, int stream) {
        this.connection = connection;
        this.stream = stream;
        connection.enter(stream, this);
    }

    /** Calls the action once, when the peer goes before the request is over; at once if it has gone. */
    void whenGone(Runnable action) {
        synchronized (this) {
            if (isOver) {
                return;
            }
            if (!isGone) {
                actions.add(action);
                action = () -> connection.watch(stream);
            }
        }
        action.run();
    }

    /** The request's thread waits for the rest of its body. */
    void awaitsBody() {
        deadline = System.nanoTime() + connection.limits().body().toNanos();
    }

    /** The request's thread waits for the peer to take a part of the answer. */
    void awaitsTaker() {
        deadline = System.nanoTime() + connection.limits().write().toNanos();
    }

    /** The request's thread waits no longer. */
    void goesOn() {
        deadline = LiveConnection.NONE;
    }

    boolean isOverdue(long now) {
        long due = deadline;
        return due != LiveConnection.NONE && now - due > 0;
    }

    synchronized boolean isGone() {
        return isGone;
    }

    /** The peer has gone. */
    void leave() {
        List<Runnable> due;
        synchronized (this) {
            if (isGone || isOver) {
                return;
            }
            isGone = true;
            due = List.copyOf(actions);
            actions.clear();
        }
        due.forEach(Runnable::run);
    }

    /** The request is over: what happens to the connection is no longer its concern. */
    @Override
    public void close() {
        synchronized (this) {
            isOver = true;
            actions.clear();
        }
        connection.exit(stream, this);
    }
}
