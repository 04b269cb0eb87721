package roselle.cli.model;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cli.option.ModelNames;
import roselle.cli.report.ByteCount;
import roselle.model.architecture.Architectures;
import roselle.quantization.folder.FolderPlan;
import roselle.quantization.folder.FolderType;
import roselle.quantization.recipe.Conversion;
import roselle.quantization.recipe.ConversionPlan;
import roselle.quantization.recipe.ImportanceMatrix;
import roselle.quantization.recipe.Mix;
import roselle.quantization.recipe.PlannedTensor;
import roselle.quantization.recipe.Recipe;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

/** {@code roselle quantize}: writes a GGUF, or a folder of safetensors, with the numbers of a model in fewer bits. */
@Command(name = "quantize")
public final class QuantizeCommand implements Runnable {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "IN", description = "A .gguf, a folder of safetensors, or demo.")
    private Path source = Path.of("");

    @Parameters(
            index = "1",
            paramLabel = "OUT",
            arity = "0..1",
            description = "The .gguf to write, or the folder; not with --dry-run.")
    private @Nullable Path target;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            required = true,
            description =
                    "What the model becomes: Q4_K_M, Q8_0, IQ4_XS …, by the names of llama-quantize; FP8, FP8_BLOCK or"
                            + " INT4, as a folder of safetensors.")
    private String type = "";

    @Option(
            names = "--imatrix",
            paramLabel = "FILE",
            description = "How much each column matters: a GGUF from roselle imatrix or llama-imatrix.")
    private @Nullable Path importance;

    @Option(
            names = "--tensor-type",
            paramLabel = "PATTERN=TYPE",
            description = "The type of tensors whose names have a regular expression in them, such as ffn_down=q6_k;"
                    + " the first that fits holds.")
    private List<String> rules = new ArrayList<>();

    @Option(names = "--pure", description = "All matrices of the same type, the output and embeddings too.")
    private boolean isPure;

    @Option(names = "--allow-requantize", description = "Quantize again what is quantized already; it loses more.")
    private boolean mayLoseTwice;

    @Option(names = "--dry-run", description = "Write nothing; list each tensor with its type and size.")
    private boolean isDry;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "0",
            description = "Threads that encode; default: one for each core.")
    private int threads;

    @Override
    public void run() {
        if (threads < 0) {
            throw misuse("--threads is " + threads + ", expected 0 or more");
        }
        Optional<FolderType> ofFolder = FolderType.named(type);
        if (ofFolder.isPresent()) {
            quantizeFolder(ofFolder.get());
            return;
        }
        Recipe recipe = recipe();
        try (Checkpoint checkpoint = Checkpoints.open(ModelNames.resolve(source))) {
            if (checkpoint.format() == Checkpoint.Format.HUGGING_FACE) {
                Architectures.read(checkpoint); // refuses what its configuration says and nobody here knows
            }
            var plan = ConversionPlan.of(checkpoint, recipe, importanceMatrix().orElse(null));
            if (isDry) {
                list(plan);
            } else {
                write(plan, requiredFile(checkpoint));
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void quantizeFolder(FolderType wanted) {
        requireNoneOfGguf();
        try (Checkpoint checkpoint = Checkpoints.open(ModelNames.resolve(source))) {
            var quantization = new FolderQuantization(FolderPlan.of(checkpoint, wanted), wanted);
            Architectures.read(checkpoint); // refuses what its configuration says and nobody here knows
            CommandLine command = specification.commandLine();
            if (isDry) {
                quantization.list(command.getOut());
            } else {
                quantization.write(requiredFolder(checkpoint), workers(), command.getOut(), command.getErr());
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void requireNoneOfGguf() {
        String option = importance != null
                ? "--imatrix"
                : !rules.isEmpty() ? "--tensor-type" : isPure ? "--pure" : mayLoseTwice ? "--allow-requantize" : "";
        if (!option.isEmpty()) {
            throw misuse(option + " is of GGUF; --type " + type + " writes safetensors, and does without");
        }
    }

    private Path requiredFolder(Checkpoint checkpoint) throws IOException {
        Path wanted = requiredTarget();
        if (Files.exists(wanted) && !Files.isDirectory(wanted)) {
            throw misuse("OUT is a file; name a folder");
        }
        Path of = checkpoint.source().toRealPath();
        Path existing = Files.exists(wanted)
                ? wanted.toRealPath()
                : wanted.toAbsolutePath().normalize();
        if (existing.startsWith(of)) {
            throw misuse("OUT is IN, or in it; name another folder");
        }
        return wanted;
    }

    private Path requiredTarget() {
        Path wanted = target;
        if (wanted == null) {
            throw misuse("OUT is missing: name what to write, or ask with --dry-run what it would be");
        }
        return wanted;
    }

    private int workers() {
        return threads == 0 ? Runtime.getRuntime().availableProcessors() : threads;
    }

    private Recipe recipe() {
        Mix mix = Mix.named(type)
                .orElseThrow(() -> misuse("--type is " + type + ", expected one of " + Mix.names()
                        + ", or of a folder of safetensors one of " + FolderType.names()));
        return new Recipe(mix, rules.stream().map(this::rule).toList(), isPure, mayLoseTwice);
    }

    private Recipe.Rule rule(String text) {
        int split = text.lastIndexOf('=');
        if (split < 1) {
            throw misuse("--tensor-type is " + text + ", expected PATTERN=TYPE, such as ffn_down=q6_k");
        }
        try {
            String wanted = text.substring(split + 1).toUpperCase(Locale.ROOT);
            return new Recipe.Rule(Pattern.compile(text.substring(0, split)), DataType.valueOf(wanted));
        } catch (PatternSyntaxException malformed) {
            throw misuse(
                    "--tensor-type is " + text + ", which is no regular expression: " + malformed.getDescription());
        } catch (IllegalArgumentException unknown) {
            throw misuse("--tensor-type is " + text + "; " + text.substring(split + 1) + " is no type of GGUF");
        }
    }

    private Optional<ImportanceMatrix> importanceMatrix() {
        if (importance == null) {
            return Optional.empty();
        }
        try (Checkpoint file = Checkpoints.open(importance)) {
            return Optional.of(ImportanceMatrix.of(file));
        }
    }

    private Path requiredFile(Checkpoint checkpoint) throws IOException {
        Path wanted = requiredTarget();
        if (Files.exists(wanted) && Files.isSameFile(wanted, checkpoint.source())) {
            throw misuse("IN and OUT are the same file");
        }
        if (Files.isDirectory(wanted)) {
            throw misuse("OUT is a folder; name a file");
        }
        return wanted;
    }

    private ParameterException misuse(String sentence) {
        return new ParameterException(specification.commandLine(), sentence);
    }

    private void list(ConversionPlan plan) {
        PrintWriter out = specification.commandLine().getOut();
        for (PlannedTensor tensor : plan.tensors()) {
            out.println(describe(tensor));
        }
        out.println(summary(plan));
        out.flush();
    }

    private void write(ConversionPlan plan, Path wanted) throws IOException {
        PrintWriter err = specification.commandLine().getErr();
        List<String> without = plan.withoutImportance();
        if (!without.isEmpty()) {
            err.println("--imatrix knows nothing of " + without.size() + " tensors, such as " + without.getFirst());
        }
        long start = System.nanoTime();
        int count = plan.tensors().size();
        new Conversion(plan, wanted, workers())
                .run((index, tensor, isDone) -> tellBegun(err, index, count, describe(tensor), isDone));
        tellWritten(specification.commandLine().getOut(), wanted, summary(plan), start);
    }

    /** Says that a tensor is begun. */
    static void tellBegun(PrintWriter err, int index, int count, String tensor, boolean isDone) {
        err.printf(Locale.ROOT, "[%d/%d] %s%s%n", index + 1, count, tensor, isDone ? ", done before" : "");
        err.flush();
    }

    /** Says that a model is written. */
    static void tellWritten(PrintWriter out, Path target, String summary, long start) {
        double seconds = (System.nanoTime() - start) / 1e9;
        out.printf(Locale.ROOT, "%s: %s, in %.1f s%n", target, summary, seconds);
        out.flush();
    }

    private static String describe(PlannedTensor tensor) {
        String from = tensor.source().codes().type().label();
        String types = tensor.isCopied() ? from : from + " → " + tensor.type().label();
        return line(tensor.name(), tensor.shape(), types, tensor.bytes());
    }

    /** A tensor in one line. */
    static String line(String name, Shape shape, String types, long bytes) {
        return String.format(Locale.ROOT, "%-32s %-16s %s, %s", name, shape, types, ByteCount.of(bytes));
    }

    private static String summary(ConversionPlan plan) {
        long numbers = plan.tensors().stream()
                .mapToLong(tensor -> tensor.shape().elements())
                .sum();
        return summary(plan.bytes(), plan.tensors().size(), numbers);
    }

    /** A whole model in one line. */
    static String summary(long bytes, int tensors, long numbers) {
        return String.format(
                Locale.ROOT,
                "%s in %d tensors, %.2f bits for each number",
                ByteCount.of(bytes),
                tensors,
                bytes * 8.0 / numbers);
    }
}
