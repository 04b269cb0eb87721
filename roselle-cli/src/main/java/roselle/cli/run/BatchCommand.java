package roselle.cli.run;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.api.InvalidRequestException;
import roselle.cli.option.EngineFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.report.ExitCode;
import roselle.cli.report.LoadingReport;
import roselle.cli.report.NearNames;
import roselle.cli.report.StartReport;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.server.OfflineBatch;
import roselle.server.config.ServedModel;

/** {@code roselle batch}: a file of requests in OpenAI's batch format, answered without a server. */
@Command(name = "batch", sortOptions = false)
public final class BatchCommand implements Runnable {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "A .gguf, a folder, hf:org/name[:quantization], or demo, which comes with Roselle.")
    private Path model = Path.of("");

    @Parameters(index = "1", paramLabel = "IN", description = "Requests, a JSON object on each line.")
    private Path input = Path.of("");

    @Parameters(index = "2", paramLabel = "OUT", description = "Where their answers go, when all are there.")
    private Path output = Path.of("");

    @Option(
            names = "--model-name",
            paramLabel = "NAME",
            description = "What the requests call it; default: MODEL's name.")
    private @Nullable String modelName;

    @Option(
            names = "--batch-requests",
            paramLabel = "N",
            description = "Requests that are answered at a time; default: 64.")
    private int atATime = BatchOptions.DEFAULT.maxSequences();

    @Mixin
    private EngineFlags engineFlags = new EngineFlags();

    @Override
    public void run() {
        EngineConfig config = ExitCode.checkingOptions(specification.commandLine(), this::config);
        Path requests = NearNames.existing(input);
        String name = modelName == null ? ModelNames.title(model) : modelName;
        PrintWriter err = specification.commandLine().getErr();
        try (var engine = open(config, name)) {
            OfflineBatch.run(new ServedModel(name, engine), requests, output, atATime, (total, succeeded, failed) -> {
                err.println((succeeded + failed) + " of " + total + " requests, " + failed + " failed");
                err.flush();
            });
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private EngineConfig config() {
        if (atATime < 1 || atATime > 100_000) {
            throw new InvalidRequestException("batch requests is " + atATime + ": it must be between 1 and 100000");
        }
        return engineFlags.config(model, BatchOptions.DEFAULT.maxSequences());
    }

    private static Engine open(EngineConfig config, String name) {
        try (var loading = LoadingReport.onStandardError(name)) {
            return Engine.open(config, new StartReport(_ -> {}, loading));
        }
    }
}
