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
import roselle.quantization.recipe.Conversion;
import roselle.quantization.recipe.ConversionPlan;
import roselle.quantization.recipe.ImportanceMatrix;
import roselle.quantization.recipe.Mix;
import roselle.quantization.recipe.PlannedTensor;
import roselle.quantization.recipe.Recipe;
import roselle.tensor.DataType;

/** {@code roselle quantize}: writes a GGUF with the numbers of a model in fewer bits. */
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
            description = "The .gguf to write; not with --dry-run.")
    private @Nullable Path target;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            required = true,
            description = "What the model becomes: Q4_K_M, Q8_0, IQ4_XS …, by the names of llama-quantize.")
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
        Recipe recipe = recipe();
        if (threads < 0) {
            throw misuse("--threads is " + threads + ", expected 0 or more");
        }
        try (Checkpoint checkpoint = Checkpoints.open(ModelNames.resolve(source))) {
            if (checkpoint.format() == Checkpoint.Format.HUGGING_FACE) {
                Architectures.read(checkpoint); // refuses what its configuration says and nobody here knows
            }
            var plan = ConversionPlan.of(checkpoint, recipe, importanceMatrix().orElse(null));
            if (isDry) {
                list(plan);
            } else {
                write(plan, requiredTarget(checkpoint));
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private Recipe recipe() {
        Mix mix = Mix.named(type).orElseThrow(() -> misuse("--type is " + type + ", expected one of " + Mix.names()));
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

    private Path requiredTarget(Checkpoint checkpoint) throws IOException {
        Path wanted = target;
        if (wanted == null) {
            throw misuse("OUT is missing: name the file to write, or ask with --dry-run what it would be");
        }
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
        int workers = threads == 0 ? Runtime.getRuntime().availableProcessors() : threads;
        new Conversion(plan, wanted, workers).run((index, tensor, isDone) -> {
            err.printf(
                    Locale.ROOT, "[%d/%d] %s%s%n", index + 1, count, describe(tensor), isDone ? ", done before" : "");
            err.flush();
        });
        PrintWriter out = specification.commandLine().getOut();
        double seconds = (System.nanoTime() - start) / 1e9;
        out.printf(Locale.ROOT, "%s: %s, in %.1f s%n", wanted, summary(plan), seconds);
        out.flush();
    }

    private static String describe(PlannedTensor tensor) {
        String from = tensor.source().codes().type().label();
        return String.format(
                Locale.ROOT,
                "%-32s %-16s %s, %s",
                tensor.name(),
                tensor.shape(),
                tensor.isCopied() ? from : from + " → " + tensor.type().label(),
                ByteCount.of(tensor.bytes()));
    }

    private static String summary(ConversionPlan plan) {
        long numbers = plan.tensors().stream()
                .mapToLong(tensor -> tensor.shape().elements())
                .sum();
        return String.format(
                Locale.ROOT,
                "%s in %d tensors, %.2f bits for each number",
                ByteCount.of(plan.bytes()),
                plan.tensors().size(),
                plan.bytes() * 8.0 / numbers);
    }
}
