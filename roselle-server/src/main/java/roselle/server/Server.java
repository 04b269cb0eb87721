package roselle.server;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import roselle.api.InvalidRequestException;
import roselle.server.access.HostCheck;
import roselle.server.access.KeyCheck;
import roselle.server.access.LimitedAdmission;
import roselle.server.access.OriginCheck;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.answer.Observer;
import roselle.server.answer.Readiness;
import roselle.server.anthropic.AnthropicDialect;
import roselle.server.batch.BatchDialect;
import roselle.server.cohere.CohereDialect;
import roselle.server.config.ApiKey;
import roselle.server.config.GatewayOptions;
import roselle.server.config.PoolOptions;
import roselle.server.config.Served;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;
import roselle.server.control.ControlDialect;
import roselle.server.control.PoolDialect;
import roselle.server.control.PoolWatch;
import roselle.server.control.StepWatch;
import roselle.server.events.EventPublisher;
import roselle.server.gateway.Gateway;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.HttpListener;
import roselle.server.http.Routes;
import roselle.server.http.Turns;
import roselle.server.kserve.KserveDialect;
import roselle.server.llamacpp.LlamaCppDialect;
import roselle.server.metrics.AccessLog;
import roselle.server.metrics.Metrics;
import roselle.server.ollama.OllamaDialect;
import roselle.server.openai.OpenAiDialect;
import roselle.server.openai.common.OpenAiConventions;
import roselle.server.openapi.OpenApiDialect;
import roselle.server.pool.EnginePool;
import roselle.server.responses.ResponsesDialect;
import roselle.server.tei.TeiDialect;
import roselle.server.tgi.TgiDialect;
import roselle.server.web.RequestLog;
import roselle.server.web.WebDialect;

/**
 * Serves models over HTTP until it is closed.
 *
 * {@snippet :
 * try (var engine = Engine.open(EngineConfig.of(path));
 *         var server = Server.start(ServerConfig.DEFAULT, new ServedModel("demo", engine))) {
 *     System.out.println(server.uri());
 *     …
 * }
 * }
 */
public final class Server implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Server.class.getName());

    /** How paths of no API speak, and what is refused before a path is known: most clients understand it. */
    static final Conventions STANDARD = OpenAiConventions.COMPLETIONS;

    /** Time for those who are broken off to be told so. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(2);

    private final ServerConfig config;
    private final Models models;
    private final LimitedAdmission admission;
    private final KeyCheck keyCheck;
    private final Answers answers;
    private final Routes routes;
    private final List<Dialect> dialects;
    private final HttpListener listener;
    private final Optional<EventPublisher> events;
    private final AtomicBoolean isDraining = new AtomicBoolean();

    private Server(ServerConfig config, Models models) {
        this.config = config;
        this.models = models;
        var readiness = new Readiness();
        readiness.add(() -> isDraining.get() ? Optional.of("the server is ending") : Optional.empty());
        readiness.add(this::deafness);
        models.fixed()
                .forEach(model ->
                        readiness.add(new StepWatch(model, config.watch().stepPatience())));
        models.pool().ifPresent(pool -> readiness.add(pool::complaint));
        readiness.add(() -> PoolWatch.sleeper(models));
        readiness.add(new PoolWatch(models, config.watch().stepPatience()));
        var log = new RequestLog();
        var metrics = new Metrics(models, config.metrics());
        var accessLog = new AccessLog(config.log());
        admission =
                new LimitedAdmission(config.limits().requests(), config.access().gateway());
        answers = new Answers(models, admission, Observer.all(List.of(log, metrics, accessLog)));
        keyCheck = new KeyCheck(config.access(), System::nanoTime);
        routes = new Routes(STANDARD).add(metrics); // the outermost, so that it counts what the others refuse
        routes.intercept(accessLog);
        routes.intercept(new HostCheck(config))
                .intercept(new OriginCheck(config.access()))
                .intercept(keyCheck);
        dialects = dialects(config, answers, readiness, this::deafness, log);
        dialects.forEach(this::add);
        served().forEach(Dialect::begin);
        events = config.events().isOn()
                ? Optional.of(new EventPublisher(config.events(), models::bases))
                : Optional.empty();
        listener = listen();
        events.ifPresent(publisher -> publisher.start(uri().getAuthority()));
    }

    private HttpListener listen() {
        try {
            return HttpListener.start(config, routes, turns(answers.models()));
        } catch (Throwable failure) {
            served().forEach(Dialect::end);
            events.ifPresent(EventPublisher::close);
            throw failure;
        }
    }

    private List<Dialect> served() {
        return dialects.stream().filter(this::isServed).toList();
    }

    private boolean isServed(Dialect dialect) {
        return dialect.name().isEmpty() || config.dialects().served().contains(dialect.name());
    }

    /** Long bodies take turns with long prompts, in an engine; where none is loaded there are no prompts. */
    private static Turns turns(Models models) {
        return new Turns() {
            @Override
            public <T> T take(String owner, long bytes, Supplier<T> work) {
                List<ServedModel> loaded = models.bases();
                return loaded.isEmpty()
                        ? Turns.atOnce(owner, bytes, work)
                        : loaded.getFirst().engine().inTurn(owner, bytes, work);
            }
        };
    }

    private void add(Dialect dialect) {
        if (isServed(dialect)) {
            routes.add(dialect);
        } else {
            routes.addSwitchedOff(dialect);
        }
    }

    /** Everything that this server answers, one line each. */
    static List<Dialect> dialects(
            ServerConfig config, Answers answers, Readiness readiness, Readiness.Check listening, RequestLog log) {
        var control = new ControlDialect(
                answers.models(), readiness, listening, config.watch().stepPatience());
        var kserve = new KserveDialect(answers, control::complaint, readiness, ControlDialect.version());
        return List.of(
                control,
                new PoolDialect(answers),
                new OpenAiDialect(answers, config.adapters()),
                new ResponsesDialect(answers),
                new BatchDialect(answers, config),
                new AnthropicDialect(answers),
                new OllamaDialect(answers),
                new LlamaCppDialect(answers, ControlDialect.version()),
                kserve,
                kserve.grpc(),
                new CohereDialect(answers),
                new TeiDialect(answers),
                new OpenApiDialect(),
                new WebDialect(answers.models(), readiness, log, config.tools()),
                new TgiDialect(answers)); // behind the page, whose path it shares
    }

    /**
     * Begins a gateway before several servers, whose own errors are in the form that this server's are.
     *
     * @throws java.io.UncheckedIOException if it cannot listen
     * @throws roselle.api.InvalidRequestException if other machines could reach it and nobody has said that they may
     */
    public static Gateway gateway(ServerConfig config, GatewayOptions options) {
        return Gateway.start(config, options, STANDARD);
    }

    /**
     * Serves models and encoders, each under its name.
     *
     * @throws java.io.UncheckedIOException if it cannot listen
     * @throws roselle.api.InvalidRequestException if the configuration would let anyone in without being told so
     */
    public static Server start(ServerConfig config, Served... models) {
        return new Server(config.checked(), new Models(List.of(models)));
    }

    /**
     * Serves models that are loaded when they are asked for, in one memory.
     *
     * @throws java.io.UncheckedIOException if it cannot listen
     * @throws roselle.api.InvalidRequestException if the configuration would let anyone in without being told so
     */
    public static Server start(ServerConfig config, PoolOptions options) {
        ServerConfig checked = config.checked();
        if (checked.adapters().folder().isPresent()) {
            throw new InvalidRequestException(
                    "adapters are loaded while the server runs, and the models may go: this goes with one model alone");
        }
        var pool = EnginePool.open(options);
        try {
            return new Server(checked, new Models(pool));
        } catch (Throwable failure) {
            pool.close();
            throw failure;
        }
    }

    /** Each method with its path that it answers. */
    List<String> paths() {
        return routes.names();
    }

    private Optional<String> deafness() {
        return listener.complaint();
    }

    /** Whether it takes connections; one that does not, and was not closed, never will again. */
    public boolean isListening() {
        return listener.isListening();
    }

    /** The port, also where any free one was asked for. */
    public int port() {
        return listener.port();
    }

    public URI uri() {
        String host = config.listen().host();
        return URI.create((config.listen().tls().isOn() ? "https://" : "http://")
                + (host.contains(":") ? "[" + host + "]" : host) + ":" + port());
    }

    /**
     * Knows these API keys from now on and no others; limits that a key has used up stay so while its line stays as it was.
     *
     * @throws roselle.api.InvalidRequestException if there are none where there were some, or the other way round
     */
    public void replaceKeys(List<ApiKey> keys) {
        keyCheck.replace(keys);
    }

    /**
     * Reads the files of TLS again, for the handshakes that follow; connections that are open stay.
     *
     * @throws roselle.api.InvalidRequestException if they are no good; those that were read before stay in use
     * @throws java.io.UncheckedIOException if they cannot be read; likewise
     */
    public void rereadCertificate() {
        listener.rereadCertificate();
    }

    /**
     * Tells load balancers to go elsewhere, refuses what is new, lets what is being answered finish within the grace, breaks off
     * the rest, and closes the port.
     */
    @Override
    public void close() {
        if (isDraining.getAndSet(true)) {
            return;
        }
        admission.close();
        served().forEach(Dialect::end);
        if (!listener.awaitAnswered(config.drain().grace())) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "event=broken_off grace={0}",
                    config.drain().grace());
            answers.breakOff();
            listener.awaitAnswered(LAST_WORDS);
        }
        listener.close();
        events.ifPresent(EventPublisher::close);
        models.pool().ifPresent(EnginePool::close);
    }
}
