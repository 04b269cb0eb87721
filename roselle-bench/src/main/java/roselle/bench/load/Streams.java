package roselle.bench.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import roselle.bench.metric.RequestSample;

/**
 * All connections of a generator: requests leave on the thread that sends them, answers are read on one thread of its own.
 *
 * <p>A connection that the endpoint closed while it was idle is no failure: the request goes out again on a new one, as
 * every HTTP client does, and its latency still counts from the intended start.
 */
final class Streams implements AutoCloseable {
    private static final int READ_BYTES = 1 << 16;
    private static final long SWEEP_NANOS = 100_000_000;

    private final LoadOptions options;
    private final InetSocketAddress address;
    private final Selector selector;
    private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();
    private final ConcurrentLinkedQueue<Connection> waiting = new ConcurrentLinkedQueue<>();
    private final Set<Connection> open = ConcurrentHashMap.newKeySet();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);
    private final byte[] bytes = new byte[READ_BYTES];
    private final Thread reader;
    private volatile boolean isRunning = true;
    private volatile CountDownLatch left = new CountDownLatch(0);
    private volatile ConcurrentLinkedQueue<RequestSample> samples = new ConcurrentLinkedQueue<>();
    private long swept;

    Streams(Endpoint endpoint, LoadOptions options) throws IOException {
        this.options = options;
        address = endpoint.address();
        selector = Selector.open();
        reader = Thread.ofPlatform().daemon().name("load-answers").start(this::read);
    }

    /** Begins a run of so many requests. */
    void expect(int requests) {
        samples = new ConcurrentLinkedQueue<>();
        left = new CountDownLatch(requests);
    }

    /** Waits for the end of the run; an end is certain, since every request has a timeout. */
    Collection<RequestSample> await() throws InterruptedException {
        left.await();
        return samples;
    }

    /** Sends a request on an idle connection, or on a new one. */
    void send(Exchange exchange) {
        Connection connection = idle.pollFirst();
        if (connection == null) {
            connect(exchange);
            return;
        }
        connection.begin(exchange);
        try {
            if (!connection.send()) {
                waiting.add(connection);
                selector.wakeup();
            }
        } catch (IOException broken) {
            again(connection);
        }
    }

    private void connect(Exchange exchange) {
        if (open.size() >= options.maxConnections()) {
            complete(exchange.failed(
                    System.nanoTime(), options.maxConnections() + " connections are open, which is the limit"));
            return;
        }
        try {
            SocketChannel channel = SocketChannel.open();
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            var connection = new Connection(channel);
            open.add(connection);
            connection.begin(exchange);
            begin(connection);
        } catch (IOException failure) {
            complete(exchange.failed(System.nanoTime(), "no connection: " + failure.getMessage()));
        }
    }

    private void begin(Connection connection) {
        try {
            if (connection.channel().connect(address)) {
                connection.send();
            }
            waiting.add(connection);
            selector.wakeup();
        } catch (IOException failure) {
            fail(connection, "no connection: " + failure.getMessage());
        }
    }

    // ---- the thread that reads ----

    private void read() {
        try {
            while (isRunning) {
                selector.select(this::ready, SWEEP_NANOS / 1_000_000);
                for (Connection next = waiting.poll(); next != null; next = waiting.poll()) {
                    register(next);
                }
                sweep();
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void register(Connection connection) {
        try {
            boolean isConnected = connection.channel().isConnected();
            int interest = SelectionKey.OP_CONNECT;
            if (isConnected) {
                interest = connection.send() ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE;
            }
            connection.channel().register(selector, interest, connection);
        } catch (IOException failure) {
            fail(connection, "the connection broke: " + failure.getMessage());
        }
    }

    private void ready(SelectionKey key) {
        var connection = (Connection) key.attachment();
        try {
            if (!key.isValid()) {
                return;
            }
            if (key.isConnectable()) {
                connection.channel().finishConnect();
                key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            }
            if (key.isWritable() && connection.send()) {
                key.interestOps(SelectionKey.OP_READ);
            }
            if (key.isReadable()) {
                receive(connection);
            }
        } catch (IOException failure) {
            broken(connection, "the connection broke: " + failure.getMessage());
        } catch (ProtocolException wrong) {
            fail(connection, String.valueOf(wrong.getMessage()));
        }
    }

    private void receive(Connection connection) throws IOException {
        buffer.clear();
        int count = connection.channel().read(buffer);
        long now = System.nanoTime();
        if (count < 0) {
            ended(connection, now);
            return;
        }
        buffer.flip().get(bytes, 0, count);
        @Nullable Exchange exchange = connection.current();
        if (exchange == null && connection.answer().isDone()) {
            drop(connection); // an idle connection on which the endpoint speaks
            return;
        }
        AnswerReader answer = connection.answer();
        answer.feed(bytes, count, now);
        if (exchange != null && (answer.isDone() || exchange.isClosed())) {
            finish(connection, now);
        }
        if (answer.isDone()) {
            free(connection);
        }
    }

    private void finish(Connection connection, long now) {
        @Nullable Exchange exchange = connection.take();
        if (exchange != null) {
            complete(exchange.finished(now));
        }
    }

    private void free(Connection connection) {
        if (connection.answer().keepsAlive()) {
            connection.release();
            idle.addFirst(connection);
        } else {
            drop(connection);
        }
    }

    private void ended(Connection connection, long now) {
        if (connection.answer().end(now)) {
            finish(connection, now);
            drop(connection);
        } else {
            broken(connection, "the connection ended before the answer did");
        }
    }

    private void broken(Connection connection, String reason) {
        if (connection.isFresh() || connection.answer().hasBytes()) {
            fail(connection, reason);
        } else {
            again(connection);
        }
    }

    /** The endpoint had closed an idle connection: the request goes out on a new one. */
    private void again(Connection connection) {
        drop(connection);
        @Nullable Exchange exchange = connection.take();
        if (exchange != null) {
            connect(exchange);
        }
    }

    private void fail(Connection connection, String reason) {
        drop(connection);
        @Nullable Exchange exchange = connection.take();
        if (exchange != null) {
            complete(exchange.failed(System.nanoTime(), reason));
        }
    }

    private void drop(Connection connection) {
        idle.remove(connection);
        open.remove(connection);
        connection.close();
    }

    private void complete(RequestSample sample) {
        samples.add(sample);
        left.countDown();
    }

    private void sweep() {
        long now = System.nanoTime();
        if (now - swept < SWEEP_NANOS) {
            return;
        }
        swept = now;
        long limit = options.timeout().toNanos();
        for (Connection connection : open) {
            @Nullable Exchange exchange = connection.current();
            if (exchange != null && now - exchange.intended() > limit) {
                fail(connection, "no end after " + options.timeout().toMillis() + " ms");
            }
        }
    }

    @Override
    public void close() {
        isRunning = false;
        selector.wakeup();
        try {
            reader.join();
            open.forEach(Connection::close);
            selector.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
