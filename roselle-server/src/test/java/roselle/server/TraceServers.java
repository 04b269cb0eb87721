package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import roselle.server.ConversationTrace.Outcome;

/**
 * Four servers for conversations, and what two routers make of these: one that knows all (one server, which has whatever anyone has
 * computed), and one that takes turns.
 */
final class TraceServers implements AutoCloseable {
    /** One more address, of a server of somebody else's. */
    static final String FIFTH = "127.0.0.6";

    static final int CONVERSATIONS = Integer.getInteger("roselle.test.conversations", 6);
    private static final List<String> HOSTS = List.of("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5");

    final ConversationTrace trace = new ConversationTrace();
    final TraceServer.Ports ports;
    private final List<TraceServer> servers = new ArrayList<>();
    private final Outcome all;
    private final Outcome turns;

    TraceServers() throws Exception {
        List<String> hosts = new ArrayList<>(HOSTS);
        hosts.add(FIFTH);
        ports = TraceServer.Ports.free(hosts);
        HOSTS.forEach(host -> servers.add(TraceServer.start(host, ports)));
        List<URI> uris = uris();
        var next = new AtomicInteger();
        ConversationTrace.Route inTurns = body -> trace.ask(uris.get(next.getAndIncrement() % uris.size()), body);
        trace.run(2, inTurns); // the first answers of a JVM are slow
        all = run("one server", body -> trace.ask(uris.getFirst(), body));
        turns = run("taking turns", inTurns);
    }

    List<URI> uris() {
        return servers.stream().map(TraceServer::uri).toList();
    }

    /** Holds the conversations, and prints what came of them. */
    Outcome run(String name, ConversationTrace.Route route) throws Exception {
        Outcome outcome = trace.run(CONVERSATIONS, route);
        System.out.println(outcome.describe(name));
        return outcome;
    }

    void requireNearlyAll(Outcome found) {
        assertThat(found.share()).as("against a router that knows all").isGreaterThanOrEqualTo(0.95 * all.share());
        assertThat(found.prompt() - found.cached())
                .as("tokens computed, against taking turns")
                .isLessThan((turns.prompt() - turns.cached()) / 2);
    }

    @Override
    public void close() {
        servers.forEach(TraceServer::close);
        trace.close();
    }
}
