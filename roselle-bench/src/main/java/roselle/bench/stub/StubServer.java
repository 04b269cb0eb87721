package roselle.bench.stub;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * An endpoint of OpenAI's completions on loopback whose tokens come when a {@link Script} says.
 *
 * <p>One thread reads requests, one writes tokens at their moments; both are idle in between.
 */
public final class StubServer implements AutoCloseable {
    private static final int BACKLOG = 4096;

    private final Script script;
    private final Stall stall;
    private final Selector selector;
    private final ServerSocketChannel listener;
    private final ConcurrentLinkedQueue<Due> arrived = new ConcurrentLinkedQueue<>();
    private final PriorityQueue<Due> queue = new PriorityQueue<>();
    private final Thread reader;
    private final Thread writer;
    private volatile boolean isRunning = true;
    private volatile long firstRequest;
    private int requests;

    /** A token of a stream and its moment. */
    private record Due(long nanos, StubStream stream) implements Comparable<Due> {
        @Override
        public int compareTo(Due other) {
            return Long.compare(nanos, other.nanos);
        }
    }

    private StubServer(int port, Script script, Stall stall) throws IOException {
        this.script = script;
        this.stall = stall;
        selector = Selector.open();
        listener = ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
        reader = Thread.ofPlatform().daemon().name("stub-requests").unstarted(this::read);
        writer = Thread.ofPlatform().daemon().name("stub-tokens").unstarted(this::write);
    }

    /** Listens on a port of loopback, 0 for any free one. */
    public static StubServer start(int port, Script script, Stall stall) {
        try {
            var server = new StubServer(port, script, stall);
            server.reader.start();
            server.writer.start();
            return server;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    public URI uri() {
        return URI.create("http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":"
                + listener.socket().getLocalPort());
    }

    /** Forgets how many requests came, so that the script begins anew. */
    public void restart() {
        requests = 0;
        firstRequest = 0;
    }

    private void read() {
        var buffer = ByteBuffer.allocateDirect(1 << 16);
        var bytes = new byte[1 << 16];
        try {
            while (isRunning) {
                selector.select(key -> ready(key, buffer, bytes));
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void ready(SelectionKey key, ByteBuffer buffer, byte[] bytes) {
        if (key.attachment() == null) {
            accept();
            return;
        }
        var stream = (StubStream) key.attachment();
        try {
            buffer.clear();
            int count = ((SocketChannel) key.channel()).read(buffer);
            if (count < 0) {
                stream.close();
                return;
            }
            buffer.flip().get(bytes, 0, count);
            if (stream.receive(bytes, count)) {
                begin(stream, System.nanoTime());
            }
        } catch (IOException | NumberFormatException | JacksonException _) {
            stream.close(); // a stub has no word for bad requests
        }
    }

    private void accept() {
        try {
            for (@Nullable SocketChannel channel = listener.accept(); channel != null; channel = listener.accept()) {
                channel.configureBlocking(false);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.register(selector, SelectionKey.OP_READ, new StubStream(channel));
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void begin(StubStream stream, long now) {
        if (requests == 0) {
            firstRequest = now;
        }
        stream.number(requests++);
        arrived.add(new Due(now + script.firstTokenNanos(stream.number()), stream));
        LockSupport.unpark(writer);
    }

    private void write() {
        while (isRunning) {
            for (@Nullable Due due = arrived.poll(); due != null; due = arrived.poll()) {
                queue.add(new Due(firstRequest + stall.delayed(due.nanos() - firstRequest), due.stream()));
            }
            @Nullable Due next = queue.peek();
            if (next == null) {
                LockSupport.park(this);
                continue;
            }
            long wait = next.nanos() - System.nanoTime();
            if (wait > 0) {
                LockSupport.parkNanos(this, wait);
            } else {
                token(queue.remove());
            }
        }
    }

    /** The next gap counts from the planned moment, so that a late token makes no later one late. */
    private void token(Due due) {
        StubStream stream = due.stream();
        try {
            if (stream.flush() && !stream.next()) {
                return;
            }
            long next = due.nanos() + script.gapNanos(stream.number(), stream.sent());
            queue.add(new Due(firstRequest + stall.delayed(next - firstRequest), stream));
        } catch (IOException _) {
            stream.close(); // the client is gone
        }
    }

    @Override
    public void close() {
        isRunning = false;
        LockSupport.unpark(writer);
        selector.wakeup();
        try {
            reader.join();
            writer.join();
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
