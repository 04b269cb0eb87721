package roselle.cli.model;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.backend.Device;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cli.option.CpuFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.option.TextInput;
import roselle.engine.Devices;
import roselle.execution.InputSquares;
import roselle.execution.TextWindows;

/** {@code roselle imatrix}: how much each column of a model's matrices matters, for {@code roselle quantize}. */
@Command(name = "imatrix")
public final class ImportanceCommand implements Runnable {
    private static final int MOST_BYTES = 256 << 20;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "MODEL", description = "A .gguf, or demo.")
    private Path model = Path.of("");

    @Parameters(index = "1", paramLabel = "OUT", description = "The file to write, a GGUF as llama-imatrix writes it.")
    private Path target = Path.of("");

    @Option(
            names = "--text",
            paramLabel = "FILE",
            required = true,
            description = "A text in UTF-8, of the model's kind.")
    private Path text = Path.of("");

    @Option(
            names = "--context",
            paramLabel = "N",
            defaultValue = "512",
            description = "Tokens of a window; default: ${DEFAULT-VALUE}.")
    private int context;

    @Option(
            names = "--windows",
            paramLabel = "N",
            defaultValue = "0",
            description = "Windows that are read, from the text's beginning; default: all.")
    private int windows;

    @Mixin
    private CpuFlags cpu = new CpuFlags();

    @Override
    public void run() {
        if (context < 4 || windows < 0) {
            throw new ParameterException(
                    specification.commandLine(),
                    "--context is " + context + " and --windows " + windows + ", expected 4 or more, and 0 or more");
        }
        Path file = ModelNames.resolve(model);
        List<int[]> cut = windows(file, TextInput.ofFile(text, MOST_BYTES, ", which no matrix needs"));
        PrintWriter err = specification.commandLine().getErr();
        try (Device device = Devices.open(cpu.on("cpu", 0))) {
            int matrices = InputSquares.write(file, device, cut, text.toString(), target, done -> {
                err.printf(Locale.ROOT, "window %d of %d%n", done, cut.size());
                err.flush();
            });
            PrintWriter out = specification.commandLine().getOut();
            out.printf(
                    Locale.ROOT, "%s: %d matrices, %d windows of %d tokens%n", target, matrices, cut.size(), context);
            out.flush();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private List<int[]> windows(Path file, String all) {
        try (Checkpoint checkpoint = Checkpoints.open(file)) {
            return TextWindows.of(all, checkpoint.tokenizer(), context, windows);
        }
    }
}
