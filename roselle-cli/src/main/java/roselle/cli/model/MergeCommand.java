package roselle.cli.model;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.option.ModelNames;
import roselle.cli.report.NearNames;
import roselle.model.adapter.AdapterMerge;

/** {@code roselle merge}: writes a model that an adapter has been merged into. */
@Command(name = "merge")
public final class MergeCommand implements Runnable {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "MODEL", description = "A folder of safetensors.")
    private Path model = Path.of("");

    @Parameters(index = "1", paramLabel = "ADAPTER", description = "A folder as PEFT writes it.")
    private Path adapter = Path.of("");

    @Parameters(index = "2", paramLabel = "OUT", description = "The folder to write.")
    private Path target = Path.of("");

    @Option(names = "--f32", description = "Write what is changed as float32, and not in the model's type.")
    private boolean isWide;

    @Override
    public void run() {
        try {
            requireEmpty();
            int changed = AdapterMerge.run(
                    NearNames.existing(ModelNames.resolve(model)),
                    NearNames.existing(ModelNames.resolve(adapter)),
                    target,
                    isWide);
            PrintWriter out = specification.commandLine().getOut();
            out.println(target + ": a model with " + changed + " tensors changed");
            out.flush();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void requireEmpty() throws IOException {
        if (!Files.exists(target)) {
            return;
        }
        boolean isFolder = Files.isDirectory(target);
        try (Stream<Path> files = isFolder ? Files.list(target) : Stream.of(target)) {
            if (files.findAny().isPresent()) {
                throw new ParameterException(
                        specification.commandLine(), "OUT is there already; name a folder that is not, or is empty");
            }
        }
    }
}
