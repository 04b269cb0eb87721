package roselle.cli.model;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.api.InvalidRequestException;
import roselle.backend.Device;
import roselle.backend.memory.KvType;
import roselle.cli.option.CpuFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.option.TextInput;
import roselle.cli.report.ByteCount;
import roselle.engine.Devices;
import roselle.execution.Comparison;
import roselle.execution.Divergence;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code roselle compare}: what a model lost against another one, on a text. */
@Command(name = "compare")
public final class CompareCommand implements Runnable {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "A", description = "The reference, such as the model in 16 bits.")
    private Path reference = Path.of("");

    @Parameters(index = "1", paramLabel = "B", description = "The model that is compared with it.")
    private Path model = Path.of("");

    @Option(names = "--text", paramLabel = "FILE", required = true, description = "A text in UTF-8.")
    private Path text = Path.of("");

    @Option(
            names = "--context",
            paramLabel = "N",
            defaultValue = "512",
            description = "Tokens of a window, of which the second half is compared; default: ${DEFAULT-VALUE}.")
    private int context;

    @Option(
            names = "--windows",
            paramLabel = "N",
            defaultValue = "0",
            description = "Windows that are read, from the text's beginning; default: all.")
    private int windows;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "cpu",
            description = "auto, cpu, cuda or cuda:N, as for roselle run; default: ${DEFAULT-VALUE}.")
    private String device = "cpu";

    @Option(
            names = "--kv-type",
            paramLabel = "TYPE",
            description = "How B keeps keys and values: f32, f16, bf16, fp8, int8 or int4; default: as its rows are.")
    private @Nullable KvType kvType;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean isJson;

    @Mixin
    private CpuFlags cpu = new CpuFlags();

    @Override
    public void run() {
        var windowed = new WindowedText(specification, context, windows);
        Path first = ModelNames.resolve(reference);
        Path second = ModelNames.resolve(model);
        String all = TextInput.ofFile(text, WindowedText.MOST_BYTES, ", which no comparison needs");
        List<int[]> cut = windowed.cut(first, all);
        requireSameTokens(cut, windowed.cut(second, all));
        Comparison.Outcome outcome;
        try (Device opened = Devices.open(cpu.on(device, 0))) {
            outcome = Comparison.run(first, second, kvType(opened), opened, cut, windowed.progress(cut.size()));
        }
        PrintWriter out = specification.commandLine().getOut();
        out.print(isJson ? json(outcome) + "\n" : table(outcome));
        out.flush();
    }

    private KvType kvType(Device opened) {
        KvType asked = kvType;
        if (asked == null) {
            return KvType.of(opened.activationType());
        }
        if (!opened.kvTypes().contains(asked)) {
            throw new InvalidRequestException("kv type is " + asked.label() + ": " + opened.name()
                    + " keeps keys and values as " + KvType.labels(opened.kvTypes()));
        }
        return asked;
    }

    private static void requireSameTokens(List<int[]> first, List<int[]> second) {
        boolean isSame = first.size() == second.size();
        for (int i = 0; isSame && i < first.size(); i++) {
            isSame = Arrays.equals(first.get(i), second.get(i));
        }
        if (!isSame) {
            throw new InvalidRequestException(
                    "the models cut the text into different tokens; only models of one tokenizer compare");
        }
    }

    private String table(Comparison.Outcome outcome) {
        Divergence divergence = outcome.divergence();
        var lines = new StringBuilder();
        row(lines, "", ModelNames.title(reference), ModelNames.title(model));
        row(
                lines,
                "size",
                ByteCount.of(outcome.reference().tensorBytes()),
                ByteCount.of(outcome.model().tensorBytes()));
        row(
                lines,
                "tokens/s",
                number("%.0f", outcome.reference().tokensPerSecond()),
                number("%.0f", outcome.model().tokensPerSecond()));
        row(
                lines,
                "perplexity",
                number("%.4f", divergence.referencePerplexity()),
                number("%.4f", divergence.perplexity()));
        row(lines, "KL mean", "", number("%.6f", divergence.mean()));
        row(lines, "KL p99", "", number("%.6f", divergence.quantile(0.99)));
        row(lines, "KL max", "", number("%.6f", divergence.quantile(1)));
        row(lines, "same top-1", "", number("%.2f %%", 100 * divergence.agreement()));
        return lines.append(String.format(
                        Locale.ROOT,
                        "%d positions, the second halves of %d windows of %d tokens%n",
                        divergence.positions(),
                        outcome.windows(),
                        context))
                .toString();
    }

    private static void row(StringBuilder lines, String name, String first, String second) {
        lines.append(String.format(Locale.ROOT, "%-12s %24s %24s%n", name, first, second));
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    private String json(Comparison.Outcome outcome) {
        Divergence divergence = outcome.divergence();
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        side(root.putObject("reference"), reference, outcome.reference(), divergence.referencePerplexity());
        side(root.putObject("model"), model, outcome.model(), divergence.perplexity());
        root.put("kl_mean", divergence.mean());
        root.put("kl_median", divergence.quantile(0.5));
        root.put("kl_p99", divergence.quantile(0.99));
        root.put("kl_max", divergence.quantile(1));
        root.put("top1_agreement", divergence.agreement());
        root.put("positions", divergence.positions());
        root.put("windows", outcome.windows());
        root.put("context", context);
        return JsonMapper.shared().writeValueAsString(root);
    }

    private static void side(ObjectNode target, Path path, Comparison.Side side, double perplexity) {
        target.put("model", path.toString())
                .put("tensor_bytes", side.tensorBytes())
                .put("tokens_per_second", side.tokensPerSecond())
                .put("perplexity", perplexity);
    }
}
