package roselle.cli.serve;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.option.Settings;
import roselle.cli.report.ByteSize;
import roselle.cli.report.ExitCode;
import roselle.server.Server;
import roselle.server.config.AccessOptions;
import roselle.server.config.DrainOptions;
import roselle.server.config.GatewayOptions;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServerConfig;
import roselle.server.config.TimeLimits;
import roselle.server.config.TlsOptions;

/** {@code roselle gateway}: one address before several servers, until the process is told to end. */
@Command(name = "gateway", sortOptions = false)
public final class GatewayCommand implements Callable<Integer> {
    private static final GatewayOptions USUAL = GatewayOptions.of(List.of(URI.create("http://127.0.0.1:8000")));

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(
            arity = "1..*",
            paramLabel = "MEMBER",
            description = "A server behind it, such as http://10.0.0.7:8000.")
    private List<URI> members = new ArrayList<>();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Options as lines of NAME = VALUE; the environment and the command line win over it.")
    @SuppressWarnings("UnusedVariable") // Settings reads it, before the others are parsed
    private @Nullable Path config;

    @Option(names = "--print-config", description = "Print every option with its value, and end.")
    private boolean printsConfig;

    @Option(names = "--host", paramLabel = "NAME", description = "Where to listen; default: 127.0.0.1.")
    private String host = ListenOptions.DEFAULT.host();

    @Option(names = "--port", paramLabel = "N", description = "0 takes any free one and prints it; default: 8080.")
    private int port = 8080;

    @Option(
            names = "--tls-certificate",
            paramLabel = "FILE",
            description = "Speak TLS with this certificate and those that signed it, in PEM.")
    private Path certificates = TlsOptions.NONE.certificates();

    @Option(names = "--tls-key", paramLabel = "FILE", description = "The certificate's private key, in PEM.")
    private Path key = TlsOptions.NONE.key();

    @Option(
            names = "--allow-anyone",
            description = "Listen also where other machines reach it: it asks for no keys itself, and passes them on.")
    private boolean allowsAnyone;

    @Option(
            names = "--allowed-hosts",
            paramLabel = "NAMES",
            description = "Names by which clients call it, beside its own; separated by commas.")
    private String hosts = "";

    @Option(
            names = "--allowed-origins",
            paramLabel = "ORIGINS",
            description = "Pages of other servers whose scripts may ask, such as https://chat.example; * for all.")
    private String origins = "";

    @Option(
            names = "--retries",
            paramLabel = "N",
            description =
                    "Further members that are asked where one fails before its first byte, or is full; default: 2.")
    private int retries = USUAL.retries();

    @Option(
            names = "--probe-interval",
            paramLabel = "SECONDS",
            description = "Between two looks at a member's health and load; default: 1.")
    private double probeSeconds = USUAL.probe().toSeconds();

    @Option(
            names = "--connect-timeout",
            paramLabel = "SECONDS",
            description = "For a connection to a member; default: 2.")
    private double connectSeconds = USUAL.connect().toSeconds();

    @Option(
            names = "--answer-timeout",
            paramLabel = "SECONDS",
            description = "For a member's answer to begin, and between two pieces of it; default: 600.")
    private double answerSeconds = USUAL.answer().toSeconds();

    @Option(
            names = "--member-key-file",
            paramLabel = "FILE",
            description = "An operator's key of the members, where they ask for keys: to read their /metrics.")
    private @Nullable Path memberKeyFile;

    @Option(
            names = "--max-body",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description = "Bytes of a request's body at most; default: 32M.")
    private long bodyBytes = LimitOptions.DEFAULT.bodyBytes();

    @Option(
            names = "--max-connections",
            paramLabel = "N",
            description = "Open at a time; default: 20000, or half of what the system allows the process.")
    private int connections = LimitOptions.DEFAULT.connections();

    @Option(
            names = "--max-requests",
            paramLabel = "N",
            description = "Answered at a time; default: 20000, or as many descriptors as --max-connections leaves.")
    private int requests = LimitOptions.MANY_CONNECTIONS;

    @Option(
            names = "--drain-grace",
            paramLabel = "SECONDS",
            description = "At the end, time for what is being answered; default: 30.")
    private long graceSeconds = DrainOptions.DEFAULT.grace().toSeconds();

    @Override
    public Integer call() {
        if (printsConfig) {
            out().print(Settings.print(specification));
            out().flush();
            return ExitCode.OK.status();
        }
        ServerConfig server = ExitCode.checkingOptions(specification.commandLine(), this::server);
        GatewayOptions options = ExitCode.checkingOptions(specification.commandLine(), this::options);
        try (var gateway = Server.gateway(server, options)) {
            ServiceEnd end = ServiceEnd.atSignals(gateway::close, () -> {});
            out().println("serving " + members.size() + " members at " + gateway.uri());
            gateway.describe().forEach(out()::println);
            out().flush();
            PrintWriter err = specification.commandLine().getErr();
            return end.await(() -> gateway.isListening() ? "" : "the gateway no longer listens", err)
                    .status();
        }
    }

    private ServerConfig server() {
        return ServerConfig.DEFAULT
                .with(new ListenOptions(host, port, new TlsOptions(certificates, key)))
                .with(new LimitOptions(
                        bodyBytes, LimitOptions.DEFAULT.headerBytes(), connections, requests, TimeLimits.DEFAULT))
                .with(new AccessOptions(
                        List.of(), allowsAnyone, true, AccessFlags.parts(hosts), AccessFlags.parts(origins)))
                .with(new DrainOptions(Duration.ofSeconds(graceSeconds)));
    }

    private GatewayOptions options() {
        GatewayOptions options = GatewayOptions.of(members)
                .withRetries(retries)
                .withProbe(seconds(probeSeconds))
                .withConnect(seconds(connectSeconds))
                .withAnswer(seconds(answerSeconds));
        return memberKeyFile == null ? options : options.withMemberKey(keyOf(memberKeyFile));
    }

    private static Duration seconds(double value) {
        return Duration.ofMillis(
                (long) Math.clamp(value * 1000, -1, 1e12)); // what is no time is refused with its options
    }

    private static String keyOf(Path file) {
        try {
            return RunningServer.key(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private PrintWriter out() {
        return specification.commandLine().getOut();
    }
}
