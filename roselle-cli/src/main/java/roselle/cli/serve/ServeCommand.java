package roselle.cli.serve;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.api.InvalidRequestException;
import roselle.cli.option.EngineFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.option.Settings;
import roselle.cli.report.ExitCode;
import roselle.cli.report.LoadingReport;
import roselle.cli.report.StartMark;
import roselle.cli.report.StartReport;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.Encoders;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EnginePlan;
import roselle.engine.Warming;
import roselle.server.Server;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;

/**
 * {@code roselle serve}: models and encoders over HTTP, until the process is told to end.
 *
 * <p>Each option may also be given by the environment, {@code --max-body} as {@code ROSELLE_MAX_BODY}, or in the file of
 * {@code --config}, as {@code max-body}; see {@link Settings}.
 */
@Command(name = "serve", sortOptions = false)
public final class ServeCommand implements Callable<Integer> {
    private static final Duration PREPARING_AFTER = Duration.ofSeconds(2);

    /** Models of so many bytes take so long to load that the JVM may get to know its code in the meantime. */
    private static final long LOADED_SLOWLY = 256L << 20;

    private static final String NO_LONGER_LISTENS = "the server no longer listens";

    /** Names of models that one line has. */
    private static final int MOST_NAMED = 5;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(
            arity = "0..*",
            paramLabel = "MODEL",
            description = "A .gguf, a folder, also of an encoder, hf:org/name[:quantization], or demo, which comes with"
                    + " Roselle; of several each is loaded when it is asked for.")
    private List<Path> models = new ArrayList<>();

    @Option(names = "--model-name", paramLabel = "NAME", description = "What clients call it; default: MODEL's name.")
    private @Nullable String modelName;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Options as lines of NAME = VALUE; the environment and the command line win over it.")
    @SuppressWarnings("UnusedVariable") // Settings reads it, before the others are parsed
    private @Nullable Path config;

    @Option(names = "--print-config", description = "Print every option with its value, and end.")
    private boolean printsConfig;

    @Option(
            names = "--no-black-box",
            description = "Do not keep the latest steps and requests in memory for the flight recorder.")
    private boolean hasNoBlackBox;

    @Option(
            names = "--share-prefixes",
            description =
                    "Let API keys reuse each other's cached prefixes, whose times then tell what others have asked.")
    private boolean sharesPrefixes;

    @Option(
            names = {"-v", "--verbose"},
            description = "Print the memory plan and where the time of the start went, on standard error.")
    private boolean isVerbose;

    private boolean isWarmedBeside;

    @Mixin
    private ServerFlags serverFlags = new ServerFlags();

    @Mixin
    private AdapterFlags adapterFlags = new AdapterFlags();

    @Mixin
    private PoolFlags poolFlags = new PoolFlags();

    @Mixin
    private BatchFlags batchFlags = new BatchFlags();

    @Mixin
    private PageEventFlags pageEventFlags = new PageEventFlags();

    @Mixin
    private PageToolFlags pageToolFlags = new PageToolFlags();

    @Mixin
    private EngineFlags engineFlags = new EngineFlags();

    @Override
    public Integer call() {
        ServerConfig server = ExitCode.checkingOptions(
                specification.commandLine(),
                () -> serverFlags
                        .config()
                        .with(adapterFlags.options())
                        .with(batchFlags.options())
                        .with(pageEventFlags.options()));
        if (printsConfig) {
            out().print(Settings.print(specification));
            out().flush();
            return ExitCode.OK.status();
        }
        if (models.isEmpty() && !poolFlags.hasModels()) {
            throw new ParameterException(
                    specification.commandLine(), "Missing required parameter: 'MODEL', or --models");
        }
        return pageToolFlags.with(line -> tell(line + System.lineSeparator()), tools -> serve(server.with(tools)));
    }

    private int serve(ServerConfig server) {
        var adapters = ExitCode.checkingOptions(specification.commandLine(), adapterFlags::adapters);
        if (poolFlags.isPool(models.size())) {
            requireOneModel(modelName == null && adapters.isEmpty());
            return serve(
                            server,
                            ExitCode.checkingOptions(
                                    specification.commandLine(), () -> poolFlags.options(models, this::config)))
                    .status();
        }
        EngineConfig engine = config(models.getFirst());
        return (Encoders.isOne(engine.model()) ? serveEncoder(server, engine) : serve(server, engine, adapters))
                .status();
    }

    private void requireOneModel(boolean isFulfilled) {
        if (!isFulfilled) {
            throw new ParameterException(
                    specification.commandLine(),
                    "--model-name and --lora go with one MODEL that stays loaded: name others in the file of --models");
        }
    }

    private EngineConfig config(Path model) {
        EngineConfig engine = ExitCode.checkingOptions(
                specification.commandLine(), () -> engineFlags.config(model, BatchOptions.DEFAULT.maxSequences()));
        return engine.with(engine.cache().sharedAcrossKeys(sharesPrefixes)).withAdapterMemory(adapterFlags.memory());
    }

    /** Serves models that are loaded when they are asked for. */
    private ExitCode serve(ServerConfig serverConfig, PoolOptions options) {
        try (var server = Server.start(serverConfig, options)) {
            ServiceEnd end = ServiceEnd.atSignals(server::close, serverFlags.watchFiles(server));
            List<String> names =
                    options.models().stream().map(PooledModel::name).toList();
            tellServing(names.size() <= MOST_NAMED ? String.join(", ", names) : names.size() + " models", server);
            return end.await(() -> server.isListening() ? "" : NO_LONGER_LISTENS, err());
        }
    }

    private ExitCode serve(ServerConfig serverConfig, EngineConfig engineConfig, Map<String, Path> adapters) {
        try (var engine = open(engineConfig, adapters)) {
            tell(engine.timeline().describe());
            return serve(serverConfig, Serving.of(name(), engine), () -> prepareAside(engine));
        }
    }

    private ExitCode serveEncoder(ServerConfig serverConfig, EngineConfig engineConfig) {
        var config = EncoderServing.config(engineConfig, specification);
        try (var engine = EmbeddingEngine.open(config)) {
            tell(engine.device() + System.lineSeparator());
            return serve(serverConfig, Serving.of(name(), engine), () -> {});
        }
    }

    /** Serves until the end; {@code aside} begins what may come after the first requests. */
    private ExitCode serve(ServerConfig serverConfig, Serving serving, Runnable aside) {
        try (var server = Server.start(serverConfig, serving.model())) {
            Runnable closing = closing(server, serving);
            ServiceEnd end = ServiceEnd.atSignals(
                    closing, serverFlags.watchFiles(server)); // before anyone can know whom to send them to
            tellServing(name(), server);
            aside.run();
            return end.await(() -> complaint(serving, server), err());
        }
    }

    private static Runnable closing(Server server, Serving serving) {
        return () -> {
            server.close();
            serving.close().run();
        };
    }

    private static String complaint(Serving serving, Server server) {
        Serving.Health health = serving.health().get();
        if (!health.isAlive()) {
            return health.failure().isEmpty() ? "the engine has ended" : health.failure();
        }
        return server.isListening() ? "" : NO_LONGER_LISTENS;
    }

    private void tellServing(String names, Server server) {
        out().println("serving " + names + " at " + server.uri());
        out().flush();
        StartMark.set();
        if (!hasNoBlackBox) {
            BlackBox.startAside();
        }
        endWithoutMemory();
    }

    /** Has the first requests with a response format wait less, while a large model is loaded. */
    private void warmBeside(EnginePlan plan) {
        isWarmedBeside =
                plan.weightBytes() >= LOADED_SLOWLY && Runtime.getRuntime().availableProcessors() > 1;
        if (isWarmedBeside) {
            Thread.ofPlatform().name("roselle-warming").daemon(true).start(Warming::responseFormats);
        }
    }

    /**
     * Has the first requests with a response format wait less: at once where the JVM was warmed beside loading, so that little is left
     * to be done, else once those requests that came at once have begun.
     */
    private void prepareAside(Engine engine) {
        Duration after = isWarmedBeside ? Duration.ZERO : PREPARING_AFTER;
        Thread.ofPlatform().name("roselle-formats").daemon(true).start(() -> {
            try {
                Thread.sleep(after);
                engine.prepareResponseFormats();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Whatever thread runs out of memory without a request to tell it to: nobody knows what it has left undone. */
    private static void endWithoutMemory() {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            if (failure instanceof OutOfMemoryError) {
                System.err.println("roselle: the thread " + thread.getName() + " ran out of memory: " + failure);
                Runtime.getRuntime().halt(ExitCode.INTERNAL.status());
            }
            System.getLogger(ServeCommand.class.getName())
                    .log(System.Logger.Level.ERROR, "event=thread_ended name=" + thread.getName(), failure);
        });
    }

    private void planned(EnginePlan plan) {
        tell(plan.describe());
        warmBeside(plan);
    }

    private Engine open(EngineConfig config, Map<String, Path> adapters) {
        if (adapters.containsKey(name())) {
            throw new InvalidRequestException("lora names " + name() + ", which is the model's name: give it another");
        }
        try (var loading = LoadingReport.onStandardError(name())) {
            Engine engine = Engine.open(config, new StartReport(this::planned, loading));
            try {
                adapters.forEach(engine::loadAdapter);
                return engine;
            } catch (Throwable failure) {
                engine.close();
                throw failure;
            }
        }
    }

    private String name() {
        return Optional.ofNullable(modelName).orElseGet(() -> ModelNames.title(models.getFirst()));
    }

    private void tell(String lines) {
        if (isVerbose) {
            specification.commandLine().getErr().print(lines);
            specification.commandLine().getErr().flush();
        }
    }

    private PrintWriter err() {
        return specification.commandLine().getErr();
    }

    private PrintWriter out() {
        return specification.commandLine().getOut();
    }
}
