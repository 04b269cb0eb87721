package roselle.server.events;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import roselle.api.DeviceException;
import roselle.api.LoadedAdapter;
import roselle.api.PageEvent;
import roselle.engine.Engine;
import roselle.engine.PageReports;
import roselle.server.config.PageEventOptions;
import roselle.server.config.ServedModel;
import roselle.server.events.SentBatches.Sent;

/**
 * Publishes what enters and leaves the prefix caches of the engines that are loaded: {@code [topic, sequence, batch]} on a PUB
 * socket, the topic {@code kv@SERVER@MODEL}, the sequence as eight bytes. A ROUTER socket answers {@code ["", sequence]} with the
 * batches from there on that are still kept, then with the sequence −1. As vLLM does both, so llm-d's endpoint picker reads them.
 *
 * <p>One thread reads all engines; no engine waits for it.
 */
public final class EventPublisher implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(EventPublisher.class.getName());
    private static final int WAITING_EVENTS = 1 << 16;
    private static final int EVENTS_IN_BATCH = 4096;
    private static final int BATCHES_BEHIND = 100_000;
    private static final long BETWEEN_LOOKS_MILLIS = 10;
    private static final byte[] NOTHING = {};
    private static final Sent END = new Sent("", -1, NOTHING);

    private final Supplier<List<ServedModel>> models;
    private final ZContext context = new ZContext();
    private final ZMQ.Socket publishing;
    private final ZMQ.@Nullable Socket replaying;
    private final SentBatches sent = new SentBatches();
    private final Map<Engine, Source> sources = new HashMap<>();
    private final AtomicBoolean ends = new AtomicBoolean();
    private String server;
    private long sequence;
    private @Nullable Thread thread;

    /** An engine that is listened to. */
    private record Source(ServedModel model, PageReports reports, PageHashes hashes) {
        static Source of(ServedModel model) {
            return new Source(model, model.engine().pageReports(WAITING_EVENTS), new PageHashes());
        }

        EventBatch batch() {
            return new EventBatch(hashes, reports.pageTokens(), this::adapterName);
        }

        /** What clients call an adapter; one that was unloaded meanwhile keeps its digest. */
        private String adapterName(String digest) {
            return model.engine().adapters().stream()
                    .filter(adapter -> adapter.digest().equals(digest))
                    .map(LoadedAdapter::name)
                    .findFirst()
                    .orElse(digest);
        }
    }

    /**
     * Binds the sockets and begins to listen to the engines that are loaded; nothing is published before {@link #start}.
     *
     * @throws DeviceException if it cannot bind
     */
    public EventPublisher(PageEventOptions options, Supplier<List<ServedModel>> models) {
        this.models = models;
        server = options.server();
        try {
            publishing = context.createSocket(SocketType.PUB);
            publishing.setSndHWM(BATCHES_BEHIND);
            bind(publishing, options.endpoint());
            if (options.replay().isEmpty()) {
                replaying = null;
            } else {
                replaying = context.createSocket(SocketType.ROUTER);
                bind(replaying, options.replay());
            }
        } catch (RuntimeException failure) {
            context.close();
            throw failure;
        }
        look();
    }

    private static void bind(ZMQ.Socket socket, String endpoint) {
        socket.setLinger(0);
        try {
            socket.bind(endpoint);
        } catch (ZMQException | IllegalArgumentException failure) {
            throw new DeviceException("cannot publish at " + endpoint + ": " + failure.getMessage(), failure);
        }
    }

    /** Begins to publish; {@code address} is what the server is called unless it was given a name. */
    public void start(String address) {
        server = server.isEmpty() ? address : server;
        thread = Thread.ofPlatform().daemon().name("roselle-kv-events").start(this::run);
    }

    /** Where subscribers connect to, with the port that was taken. */
    String endpoint() {
        return publishing.getLastEndpoint();
    }

    /** Where they ask for what they missed. */
    String replayEndpoint() {
        return replaying == null ? "" : replaying.getLastEndpoint();
    }

    private void run() {
        try (var poller = context.createPoller(1)) {
            if (replaying != null) {
                poller.register(replaying, ZMQ.Poller.POLLIN);
            }
            while (!ends.get()) {
                if (poller.poll(BETWEEN_LOOKS_MILLIS) > 0 && replaying != null) {
                    replay(replaying);
                }
                look();
                sources.values().forEach(this::publish);
            }
        } catch (ZMQException failure) {
            LOG.log(System.Logger.Level.ERROR, "event=kv_events_ended", failure);
        } finally {
            context.close();
        }
    }

    /** Listens to engines that are new, and says of those that are gone that they find nothing more. */
    private void look() {
        List<ServedModel> loaded = models.get();
        loaded.forEach(model -> sources.computeIfAbsent(model.engine(), _ -> Source.of(model)));
        if (sources.size() > loaded.size()) {
            List<Engine> engines = loaded.stream().map(ServedModel::engine).toList();
            var gone = sources.values().stream()
                    .filter(source -> !engines.contains(source.model().engine()))
                    .toList();
            for (Source source : gone) {
                send(source, source.batch().clear());
                sources.remove(source.model().engine());
            }
        }
    }

    private void publish(Source source) {
        List<PageEvent> events = source.reports().take(EVENTS_IN_BATCH);
        if (!events.isEmpty()) {
            send(source, source.batch().add(events));
        }
    }

    private void send(Source source, EventBatch batch) {
        if (batch.isEmpty()) {
            return;
        }
        String topic = "kv@" + server + "@" + source.model().name();
        var message = new Sent(topic, sequence++, batch.bytes(System.currentTimeMillis() / 1000.0));
        sent.add(message);
        sendTo(publishing, message);
    }

    private static void sendTo(ZMQ.Socket socket, Sent message) {
        socket.sendMore(message.topic().getBytes(StandardCharsets.UTF_8));
        socket.sendMore(sequence(message.sequence()));
        socket.send(message.payload());
    }

    private void replay(ZMQ.Socket socket) {
        List<byte[]> asked = new ArrayList<>();
        do {
            asked.add(socket.recv());
        } while (socket.hasReceiveMore());
        if (asked.size() != 3 || asked.get(2).length != Long.BYTES) {
            return; // nobody who speaks this protocol
        }
        byte[] asker = asked.getFirst();
        for (Sent message : sent.from(ByteBuffer.wrap(asked.get(2)).getLong())) {
            socket.sendMore(asker);
            socket.sendMore(NOTHING);
            sendTo(socket, message);
        }
        socket.sendMore(asker);
        socket.sendMore(NOTHING);
        sendTo(socket, END);
    }

    private static byte[] sequence(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    /** Stops publishing; what has not gone out by then is dropped. */
    @Override
    public void close() {
        ends.set(true);
        Thread running = thread;
        if (running == null) {
            context.close();
            return;
        }
        try {
            running.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
