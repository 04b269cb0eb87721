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
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.backend.Device;
import roselle.cli.option.CpuFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.option.TextInput;
import roselle.engine.Devices;
import roselle.execution.InputSquares;

/** {@code roselle imatrix}: how much each column of a model's matrices matters, for {@code roselle quantize}. */
@Command(name = "imatrix")
public final class ImportanceCommand implements Runnable {
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
        var windowed = new WindowedText(specification, context, windows);
        Path file = ModelNames.resolve(model);
        List<int[]> cut =
                windowed.cut(file, TextInput.ofFile(text, WindowedText.MOST_BYTES, ", which no matrix needs"));
        try (Device device = Devices.open(cpu.on("cpu", 0))) {
            int matrices =
                    InputSquares.write(file, device, cut, text.toString(), target, windowed.progress(cut.size()));
            PrintWriter out = specification.commandLine().getOut();
            out.printf(
                    Locale.ROOT, "%s: %d matrices, %d windows of %d tokens%n", target, matrices, cut.size(), context);
            out.flush();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
