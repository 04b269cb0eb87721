package roselle.server.gateway;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import roselle.api.InvalidRequestException;
import roselle.server.access.HostCheck;
import roselle.server.access.LimitedAdmission;
import roselle.server.access.OriginCheck;
import roselle.server.config.GatewayOptions;
import roselle.server.config.GatewayTrust;
import roselle.server.config.LimitOptions;
import roselle.server.config.ServerConfig;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.Errors;
import roselle.server.http.Exchange;
import roselle.server.http.HttpListener;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import roselle.server.http.Turns;
import roselle.server.transport.Transport;
import roselle.server.upstream.Upstreams;

/**
 * A gateway before several servers until it is closed.
 *
 * {@snippet :
 * try (var gateway = Server.gateway(ServerConfig.DEFAULT, GatewayOptions.of(List.of(URI.create("http://10.0.0.7:8000"))))) {
 *     System.out.println(gateway.uri());
 *     …
 * }
 * }
 */
public final class Gateway implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Gateway.class.getName());
    private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

    /** What one member alone keeps, and operators ask of one: the gateway does not know which. */
    private static final List<String> OF_ONE_MEMBER = List.of(
            "/v1/files", "/v1/batches", "/models", "/v1/load_lora_adapter", "/v1/unload_lora_adapter", "/dashboard");

    private final ServerConfig config;
    private final Conventions conventions; // of what it says itself
    private final Upstreams upstreams;
    private final Members members;
    private final MemberWatch watch;
    private final LimitedAdmission admission;
    private final GatewayMeters meters;
    private final Forwarder forwarder;
    private final HttpListener listener;
    private final AtomicBoolean isDraining = new AtomicBoolean();

    private Gateway(ServerConfig config, GatewayOptions options, Conventions conventions) {
        int looks = options.members().size(); // each member is looked at by one request at a time
        LimitOptions limits = fitting(config.limits(), Transport.room() - looks);
        this.config = config.with(limits);
        this.conventions = conventions;
        members = new Members(options.members().stream().map(Member::new).toList());
        upstreams = new Upstreams(options.connect(), limits.requests() + looks);
        watch = new MemberWatch(members, upstreams, options);
        admission = new LimitedAdmission(limits.requests(), GatewayTrust.NONE);
        meters = new GatewayMeters(members);
        forwarder = new Forwarder(members, upstreams, options, meters);
        watch.start();
        try {
            listener = HttpListener.start(this.config, routes(), Turns::atOnce);
        } catch (Throwable failure) {
            watch.close();
            upstreams.close();
            throw failure;
        }
    }

    /**
     * The limits where each request has a connection to a member, and as many descriptors are left for these as clients may not
     * take: a client with HTTP/1.1 has one request at a time, one with HTTP/2 many. Connections that are kept for later requests are
     * among them: they make room where they must.
     *
     * @param room descriptors for connections of both kinds
     */
    static LimitOptions fitting(LimitOptions limits, int room) {
        int wanted = limits.connections() == 0 ? LimitOptions.MANY_CONNECTIONS : limits.connections();
        int connections = Math.min(wanted, Math.max(1, room / 2));
        if (connections < wanted) {
            LOG.log(
                    limits.connections() == 0 ? System.Logger.Level.INFO : System.Logger.Level.WARNING,
                    "event=fewer_connections wanted={0} room={1} reason=\"half the limit of descriptors: raise ulimit -n\"",
                    Integer.toString(wanted),
                    Integer.toString(connections));
        }
        return new LimitOptions(
                limits.bodyBytes(),
                limits.headerBytes(),
                connections,
                Math.min(limits.requests(), Math.max(1, room - connections)),
                limits.times());
    }

    /**
     * Begins; the members have been looked at once. {@code Server.gateway} is the way for who embeds it.
     *
     * @param conventions the form of what it says itself
     * @throws java.io.UncheckedIOException if it cannot listen
     * @throws roselle.api.InvalidRequestException if other machines could reach it and nobody has said that they may
     */
    @SuppressWarnings("exports") // the conventions, which Server knows
    public static Gateway start(ServerConfig config, GatewayOptions options, Conventions conventions) {
        if (!config.listen().isLoopback() && !config.access().allowsAnyone()) {
            throw new InvalidRequestException("host is " + config.listen().host()
                    + ", where other machines reach the gateway, which asks for no keys but passes them on:"
                    + " give --allow-anyone where its members ask, or anyone may come");
        }
        return new Gateway(config, options, conventions);
    }

    private Routes routes() {
        Dialect own = routes -> routes.get("/health", this::health)
                .get("/ready", this::ready)
                .get("/metrics", this::metrics)
                .getBelow("/", this::forward)
                .get("/", this::forward)
                .post("/", this::forward)
                .postBelow("/", this::forward)
                .deleteBelow("/", this::forward);
        return new Routes(conventions)
                .intercept(new HostCheck(config))
                .intercept(new OriginCheck(config.access()))
                .add(own);
    }

    private void forward(Exchange exchange) throws IOException {
        try (var _ = admission.admit(exchange)) {
            requireOfAny(exchange);
            forwarder.forward(exchange);
        }
    }

    private static void requireOfAny(Exchange exchange) {
        boolean isOfOne = OF_ONE_MEMBER.stream()
                .anyMatch(
                        path -> exchange.path().equals(path) || exchange.path().startsWith(path + "/"));
        if (isOfOne) {
            throw new ApiException(
                    ErrorKind.NOT_SUPPORTED,
                    exchange.path()
                            + " is about one member, and the gateway does not know which: ask that member itself");
        }
        if (exchange.requestHeader("content-type").orElse("").startsWith("application/grpc")) {
            throw new ApiException(
                    ErrorKind.CONTENT_TYPE, "the gateway passes no gRPC on: use HTTP, or ask a member itself");
        }
    }

    private void health(Exchange exchange) {
        listener().complaint().ifPresent(why -> {
            throw new ApiException(ErrorKind.ENGINE_UNAVAILABLE, why);
        });
        exchange.sendJson(200, new JsonWriter().object().field("status", "ok").endObject());
    }

    private HttpListener listener() {
        return listener;
    }

    private void ready(Exchange exchange) {
        if (isDraining.get()) {
            throw Errors.ending();
        }
        complaint().ifPresent(why -> {
            throw new ApiException(ErrorKind.NOT_READY, why);
        });
        exchange.sendJson(
                200, new JsonWriter().object().field("status", "ready").endObject());
    }

    private Optional<String> complaint() {
        if (members.hasReady()) {
            return Optional.empty();
        }
        Member first = members.all().getFirst();
        return Optional.of("no member is ready; " + first.name() + ": " + first.complaint());
    }

    private void metrics(Exchange exchange) {
        exchange.send(200, TEXT, meters.scrape().getBytes(StandardCharsets.UTF_8));
    }

    /** Whether it takes connections; one that does not, and was not closed, never will again. */
    public boolean isListening() {
        return listener.isListening();
    }

    public int port() {
        return listener.port();
    }

    public URI uri() {
        String host = config.listen().host();
        String scheme = config.listen().tls().isOn() ? "https://" : "http://";
        return URI.create(scheme + (host.contains(":") ? "[" + host + "]" : host) + ":" + port());
    }

    /** Each member with why it cannot be asked; with nothing where it can. */
    public List<String> describe() {
        return members.all().stream()
                .map(member -> member.uri() + (member.isReady() ? " ready" : " not ready: " + member.complaint()))
                .toList();
    }

    /** Refuses what is new, lets what is being answered finish within the grace, and closes the port. */
    @Override
    public void close() {
        if (isDraining.getAndSet(true)) {
            return;
        }
        admission.close();
        if (!listener.awaitAnswered(config.drain().grace())) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "event=broken_off grace={0}",
                    config.drain().grace());
        }
        watch.close();
        listener.close();
        upstreams.close();
    }
}
