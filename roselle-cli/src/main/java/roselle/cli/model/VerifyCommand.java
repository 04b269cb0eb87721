package roselle.cli.model;

import java.io.PrintWriter;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
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
import roselle.api.CheckpointException;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cli.option.CpuFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.report.ExitCode;
import roselle.cli.report.NearNames;
import roselle.embedding.EncoderVerification;
import roselle.engine.Devices;
import roselle.execution.Verification;

/** {@code roselle verify}: compares a model's logits and greedy tokens with what another implementation computed. */
@Command(name = "verify")
public final class VerifyCommand implements Callable<Integer> {
    private static final String REFERENCE = "expected.safetensors";
    private static final double CPU_TOLERANCE = 5e-4;
    private static final double DEVICE_TOLERANCE = 1e-3; // sums in another order, faster functions
    private static final double ROUNDED_STATES = 0.1; // of an encoder, whose numbers are about 1
    private static final double ROUNDED_PART = 0.02; // of the reference's norm, where numbers have 8 or 11 bits

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "MODEL", description = "A .gguf, a .safetensors, a folder, or demo.")
    private Path model = Path.of("");

    @Option(
            names = "--reference",
            paramLabel = "FILE",
            description =
                    "Tensors input_i, logits_i and greedy_i, of an encoder hidden_i and embedding_i; default: expected.safetensors beside the model.")
    private @Nullable Path reference;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "cpu",
            description = "auto, cpu, cuda or cuda:N, as for roselle run; default: ${DEFAULT-VALUE}.")
    private String device = "cpu";

    @Option(
            names = "--tolerance",
            paramLabel = "X",
            description = "Largest difference of a logit that passes in f32; default: 5e-4 on the CPU, else 1e-3."
                    + " In bf16 and f16: largest part of the reference's norm, and half of what a token may have; default: 0.02;"
                    + " of an encoder largest difference of a number; default: 0.1.")
    private @Nullable Double tolerance;

    @Option(
            names = "--chunk",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Tokens per step; default: the whole input at once. Of an encoder: 0 for all texts at once, else one at a time.")
    private int chunk;

    @Option(
            names = "--lora",
            paramLabel = "FOLDER",
            description = "An adapter of the model: PEFT's folder, or a .gguf; the reference lies beside it.")
    private @Nullable Path lora;

    @Mixin
    private CpuFlags cpu = new CpuFlags();

    @Override
    public Integer call() {
        requireOptions();
        Path file = NearNames.existing(ModelNames.resolve(model));
        boolean isOpen = cpu.compute().equalsIgnoreCase("auto");
        try (Checkpoint expected = Checkpoints.open(referenceFor(lora == null ? file : NearNames.existing(lora)))) {
            if (EncoderVerification.isOne(expected)) {
                return verifyEncoder(expected, file);
            }
            var verification = Verification.of(expected);
            List<Verification.Difference> differences = run(verification, file, isOpen ? "f32" : cpu.compute());
            int status = report(differences, isOpen || cpu.compute().equalsIgnoreCase("f32"));
            if (isOpen && rounds()) {
                tell(differences, run(verification, file, isOfBytes() ? "auto" : "bf16"));
            }
            return status;
        }
    }

    /** Hidden states, and what is made of them; all texts in one step unless one at a time is asked for. */
    private int verifyEncoder(Checkpoint expected, Path file) {
        PrintWriter out = specification.commandLine().getOut();
        String compute = cpu.compute().equalsIgnoreCase("auto") ? "f32" : cpu.compute();
        boolean isExact = compute.equalsIgnoreCase("f32");
        double limit = tolerance != null ? tolerance : isExact ? exactTolerance() : ROUNDED_STATES;
        double cosine = isExact
                ? EncoderVerification.Difference.LEAST_COSINE
                : EncoderVerification.Difference.LEAST_ROUNDED_COSINE;
        boolean passes = true;
        try (Device opened = open(compute)) {
            out.println(opened.name() + ": " + opened.describe());
            int input = 0;
            for (var difference : EncoderVerification.of(expected).run(file, opened, chunk == 0)) {
                passes &= difference.isWithin(limit, cosine);
                out.printf(
                        Locale.ROOT,
                        "input %d: %d tokens, max difference %.3g of hidden states, %.3g of the result, cosine %.7f%n",
                        input++,
                        difference.tokens(),
                        difference.hidden(),
                        difference.result(),
                        difference.cosine());
            }
        }
        out.println((passes ? "verified: " : "not verified: ") + "each number within " + plain(limit, 0)
                + ", cosines at least " + cosine);
        out.flush();
        return (passes ? ExitCode.OK : ExitCode.DIFFERENT).status();
    }

    /** Whether the device has a faster precision to tell of. */
    private boolean rounds() {
        return Devices.rounds(cpu.on(device, 0));
    }

    /** Whether the path rounds activations to 8 bits. */
    private boolean isOfBytes() {
        return device.equals("cpu") && cpu.path().equalsIgnoreCase("vnni");
    }

    private Device open(String compute) {
        return Devices.open(new DeviceOptions(device, 0, cpu.path(), compute));
    }

    private List<Verification.Difference> run(Verification verification, Path file, String compute) {
        try (Device device = open(compute)) {
            PrintWriter out = specification.commandLine().getOut();
            out.println(device.name() + ": " + device.describe());
            out.flush();
            return verification.run(file, Optional.ofNullable(lora), device, chunk);
        }
    }

    /** What rounding changes; nothing depends on it. */
    private void tell(List<Verification.Difference> exact, List<Verification.Difference> rounded) {
        var largest = rounded.stream().mapToDouble(Verification.Difference::largest);
        int agreeing =
                rounded.stream().mapToInt(Verification.Difference::agreeing).sum();
        int greedy = rounded.stream().mapToInt(Verification.Difference::greedy).sum();
        double before = Verification.Difference.perplexity(exact);
        double after = Verification.Difference.perplexity(rounded);
        PrintWriter out = specification.commandLine().getOut();
        out.printf(
                Locale.ROOT,
                "with %s: max difference %.3g, greedy %d of %d, perplexity %.4f, not %.4f (%+.4f %%)%n",
                isOfBytes() ? "--cpu vnni" : "--compute bf16",
                largest.max().orElse(0),
                agreeing,
                greedy,
                after,
                before,
                100 * (after / before - 1));
        out.flush();
    }

    private void requireOptions() {
        if (tolerance != null && !(tolerance >= 0)) {
            throw new ParameterException(
                    specification.commandLine(), "--tolerance is " + tolerance + ", expected 0 or more");
        }
        if (chunk < 0) {
            throw new ParameterException(specification.commandLine(), "--chunk is " + chunk + ", expected 0 or more");
        }
    }

    private Path referenceFor(Path file) {
        if (reference != null) {
            return reference;
        }
        Path folder = Files.isDirectory(file) ? file : file.toAbsolutePath().getParent();
        Path beside = folder == null ? Path.of(REFERENCE) : folder.resolve(REFERENCE);
        if (!Files.exists(beside)) {
            throw new CheckpointException(
                    "nothing is known to compare " + (lora == null ? model : lora)
                            + " with: name a file with --reference, or put " + REFERENCE + " beside the model",
                    new NoSuchFileException(beside.toString()));
        }
        return beside;
    }

    private int report(List<Verification.Difference> differences, boolean isExact) {
        double limit = tolerance != null ? tolerance : isExact ? exactTolerance() : ROUNDED_PART;
        PrintWriter out = specification.commandLine().getOut();
        boolean passes = true;
        for (int i = 0; i < differences.size(); i++) {
            Verification.Difference difference = differences.get(i);
            passes &= isExact ? difference.isWithin(limit) : difference.isWithinPart(limit);
            out.printf(
                    Locale.ROOT,
                    "input %d: %d tokens, max difference %.3g, mean %.3g%s, greedy %d of %d%n",
                    i,
                    difference.tokens(),
                    difference.largest(),
                    difference.mean(),
                    isExact ? "" : rounded(difference),
                    difference.agreeing(),
                    difference.greedy());
        }
        out.println((passes ? "verified: " : "not verified: ") + criterion(isExact, limit));
        out.flush();
        return (passes ? ExitCode.OK : ExitCode.DIFFERENT).status();
    }

    private double exactTolerance() {
        return device.equals("cpu") ? CPU_TOLERANCE : DEVICE_TOLERANCE;
    }

    private static String rounded(Verification.Difference difference) {
        return String.format(
                Locale.ROOT,
                ", %.2f %% of the norm (worst token %.2f %%), likeliest %d of %d",
                100 * difference.part(),
                100 * difference.worstPart(),
                difference.tops().agreeing(),
                difference.tops().clear());
    }

    private static String criterion(boolean isExact, double limit) {
        return isExact
                ? "each logit within " + plain(limit, 0) + ", all greedy tokens"
                : "each input's logits within " + plain(limit, 2)
                        + " % of the reference's norm and each token's within "
                        + plain(Verification.WORST_TOKEN * limit, 2) + " %, and the likeliest token"
                        + " where its margin is more than " + plain(Verification.CLEAR_MARGIN, 2)
                        + " % of the largest logit (but for one token in 16 where there are experts)";
    }

    /** A number times a power of ten, with no more digits than it has. */
    private static String plain(double number, int power) {
        return BigDecimal.valueOf(number)
                .scaleByPowerOfTen(power)
                .stripTrailingZeros()
                .toPlainString();
    }
}
