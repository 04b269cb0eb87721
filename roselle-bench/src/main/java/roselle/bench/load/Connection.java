package roselle.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A connection to the endpoint and the request on it.
 *
 * <p>Whoever takes the exchange out decides its fate, so a failure that two threads see counts once.
 */
final class Connection {
    private final SocketChannel channel;
    private final AnswerReader answer = new AnswerReader();
    private final AtomicReference<@Nullable Exchange> exchange = new AtomicReference<>();
    private volatile @Nullable ByteBuffer unsent;
    private volatile boolean isFresh = true;

    Connection(SocketChannel channel) {
        this.channel = channel;
    }

    SocketChannel channel() {
        return channel;
    }

    AnswerReader answer() {
        return answer;
    }

    /** Whether no answer has come to its end on it yet. */
    boolean isFresh() {
        return isFresh;
    }

    void begin(Exchange next) {
        next.hear(answer);
        unsent = ByteBuffer.wrap(next.bytes());
        exchange.set(next);
    }

    @Nullable
    Exchange current() {
        return exchange.get();
    }

    /** The exchange for the one who gets it first, else null. */
    @Nullable
    Exchange take() {
        return exchange.getAndSet(null);
    }

    /** Sends what the socket takes; true when all has left. */
    boolean send() throws IOException {
        ByteBuffer rest = unsent;
        if (rest == null) {
            return true;
        }
        channel.write(rest);
        if (rest.hasRemaining()) {
            return false;
        }
        unsent = null;
        return true;
    }

    /** The answer has been read to its end: the connection is free. */
    void release() {
        isFresh = false;
    }

    void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // nothing follows on it
        }
    }
}
