package roselle.cli.serve;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import roselle.cli.report.ByteSize;
import roselle.cli.report.Heading;
import roselle.server.Server;
import roselle.server.config.DialectOptions;
import roselle.server.config.DrainOptions;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.LogOptions;
import roselle.server.config.MetricOptions;
import roselle.server.config.ServerConfig;
import roselle.server.config.TimeLimits;
import roselle.server.config.TlsOptions;
import roselle.server.config.WatchOptions;

/** The options that say how the server is set up. */
@Heading("Server")
final class ServerFlags {
    @Option(names = "--host", paramLabel = "NAME", description = "Where to listen; default: 127.0.0.1.")
    private String host = ListenOptions.DEFAULT.host();

    @Option(names = "--port", paramLabel = "N", description = "0 takes any free one and prints it; default: 8000.")
    private int port = ListenOptions.DEFAULT.port();

    @Option(
            names = "--tls-certificate",
            paramLabel = "FILE",
            description = "Speak TLS with this certificate and those that signed it, in PEM.")
    private Path certificates = TlsOptions.NONE.certificates();

    @Option(names = "--tls-key", paramLabel = "FILE", description = "The certificate's private key, in PEM.")
    private Path key = TlsOptions.NONE.key();

    @Option(
            names = "--max-body",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description = "Bytes of a request's body at most; default: 32M.")
    private long bodyBytes = LimitOptions.DEFAULT.bodyBytes();

    @Option(
            names = "--max-header",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description = "Bytes of a request's headers at most; default: 16K.")
    private long headerBytes = LimitOptions.DEFAULT.headerBytes();

    @Option(
            names = "--max-connections",
            paramLabel = "N",
            description = "Open at a time; default: 20000, or fewer where the system allows the process fewer.")
    private int connections = LimitOptions.DEFAULT.connections();

    @Option(names = "--max-requests", paramLabel = "N", description = "Answered at a time; default: 2048.")
    private int requests = LimitOptions.DEFAULT.requests();

    @Option(
            names = "--idle-timeout",
            paramLabel = "SECONDS",
            description = "Between two requests of a connection; default: 300.")
    private long idleSeconds = TimeLimits.DEFAULT.idle().toSeconds();

    @Option(
            names = "--head-timeout",
            paramLabel = "SECONDS",
            description = "For a request's headers to come; default: 20.")
    private long headSeconds = TimeLimits.DEFAULT.head().toSeconds();

    @Option(
            names = "--body-timeout",
            paramLabel = "SECONDS",
            description = "For a request's body to come; default: 60.")
    private long bodySeconds = TimeLimits.DEFAULT.body().toSeconds();

    @Option(
            names = "--write-timeout",
            paramLabel = "SECONDS",
            description = "For a client to take a part of its answer; default: 60.")
    private long writeSeconds = TimeLimits.DEFAULT.write().toSeconds();

    @Option(
            names = "--drain-grace",
            paramLabel = "SECONDS",
            description = "At the end, time for what is being answered; default: 30.")
    private long graceSeconds = DrainOptions.DEFAULT.grace().toSeconds();

    @Option(
            names = "--step-patience",
            paramLabel = "SECONDS",
            description = "An engine whose step takes longer is stuck: /health and /ready say so; default: 60.")
    private long stepSeconds = WatchOptions.DEFAULT.stepPatience().toSeconds();

    @Option(
            names = "--dialects",
            paramLabel = "NAMES",
            description = "APIs that are answered, separated by commas; default:"
                    + " openai,anthropic,ollama,llamacpp,tgi,kserve,cohere,tei.")
    private String dialects = String.join(",", DialectOptions.NAMES);

    @Option(
            names = "--access-log",
            paramLabel = "FORMAT",
            description =
                    "A line for each request on standard error, without its content: none, text or json; default: none.")
    private String accessLog = "none";

    @Option(
            names = "--metrics-names",
            paramLabel = "NAMES",
            description = "Whose names series of /metrics have, of roselle, vllm and sglang, separated by commas;"
                    + " default: roselle.")
    private String metricsNames = MetricOptions.OWN;

    @Mixin
    private AccessFlags access = new AccessFlags();

    private TimeLimits times() {
        return new TimeLimits(
                Duration.ofSeconds(idleSeconds),
                Duration.ofSeconds(headSeconds),
                Duration.ofSeconds(bodySeconds),
                Duration.ofSeconds(writeSeconds));
    }

    /** Has the server read its certificate and its API keys again whenever their files change; returns what looks at once. */
    Runnable watchFiles(Server server) {
        var watches = new ArrayList<FileWatch>();
        if (!certificates.toString().isEmpty()) {
            watches.add(new FileWatch(List.of(certificates, key), server::rereadCertificate));
        }
        access.keyFile()
                .ifPresent(file -> watches.add(new FileWatch(List.of(file), () -> server.replaceKeys(access.keys()))));
        watches.forEach(FileWatch::start);
        return () -> watches.forEach(FileWatch::look);
    }

    ServerConfig config() {
        return ServerConfig.DEFAULT
                .with(new ListenOptions(host, port, new TlsOptions(certificates, key)))
                .with(new LimitOptions(bodyBytes, headerBytes, connections, requests, times()))
                .with(access.options())
                .with(new DrainOptions(Duration.ofSeconds(graceSeconds)))
                .with(new WatchOptions(Duration.ofSeconds(stepSeconds)))
                .with(new LogOptions(LogOptions.format(accessLog), System.err::println))
                .with(new DialectOptions(Set.copyOf(AccessFlags.parts(dialects))))
                .with(new MetricOptions(AccessFlags.parts(metricsNames)))
                .checked();
    }
}
