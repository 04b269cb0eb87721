package roselle.cli.bench;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.backend.ModelWeights;
import roselle.bench.MemoryBandwidth;
import roselle.bench.ModelBenchmark;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cli.option.CpuFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.report.ExitCode;
import roselle.engine.Devices;
import tools.jackson.databind.json.JsonMapper;

/** {@code roselle bench model}: tokens per second of a model's prompts and answers, as a table or as JSON. */
@Command(
        name = "model",
        description = "Measure how fast a model reads prompts and writes tokens.",
        mixinStandardHelpOptions = true)
final class BenchModelCommand implements Callable<Integer> {
    private enum Output {
        TABLE,
        JSON
    }

    private static final String ROW = "| %-30s | %-7s | %7s | %5s | %-8s | %18s | %8s |%n";

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "MODEL", description = "A .gguf, a .safetensors, a folder, or demo.")
    private Path model = Path.of("");

    @Option(
            names = {"-p", "--prompt-tokens"},
            paramLabel = "N",
            defaultValue = "512",
            description = "Tokens of the prompt, 0 for none; default: ${DEFAULT-VALUE}.")
    private int promptTokens;

    @Option(
            names = {"-n", "--new-tokens"},
            paramLabel = "N",
            defaultValue = "64",
            description = "Tokens that each sequence writes, 0 for none; default: ${DEFAULT-VALUE}.")
    private int newTokens;

    @Option(
            names = {"-b", "--batch"},
            paramLabel = "N",
            split = ",",
            defaultValue = "1",
            description = "Sequences that write together, one test each; default: ${DEFAULT-VALUE}.")
    private List<Integer> batches = List.of();

    @Option(
            names = "--context",
            paramLabel = "N",
            defaultValue = "0",
            description = "Tokens that each sequence has before it writes; default: ${DEFAULT-VALUE}.")
    private int context;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "cpu",
            description = "auto, cpu, cuda or cuda:N, as for roselle run; default: ${DEFAULT-VALUE}.")
    private String device = "cpu";

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Threads of the CPU; default: one per core, fewer for tiny models.")
    private int threads;

    @Mixin
    private CpuFlags cpu = new CpuFlags();

    @Option(
            names = "--lora",
            paramLabel = "PATHS",
            split = ",",
            description = "Adapters, which the sequences of a batch take in turn.")
    private List<Path> adapters = List.of();

    @Option(
            names = "--repetitions",
            paramLabel = "N",
            defaultValue = "3",
            description = "Repetitions of each test; default: ${DEFAULT-VALUE}.")
    private int repetitions;

    @Option(names = "--output", paramLabel = "table|json", defaultValue = "table", description = "Default: table.")
    private Output output = Output.TABLE;

    @Option(names = "--profile", description = "Say after each test where a step's time went.")
    private boolean hasProfile;

    @Override
    public Integer call() {
        ModelBenchmark.Plan plan = plan();
        switch (output) {
            case TABLE -> table(plan);
            case JSON -> json(plan);
        }
        return ExitCode.OK.status();
    }

    private ModelBenchmark.Plan plan() {
        return ExitCode.checkingOptions(
                specification.commandLine(),
                () -> new ModelBenchmark.Plan(
                        promptTokens,
                        newTokens,
                        batches,
                        context,
                        device,
                        threads,
                        cpu.path(),
                        cpu.compute(),
                        repetitions));
    }

    private String products() {
        try (Checkpoint checkpoint = Checkpoints.open(ModelNames.resolve(model))) {
            var types = ModelWeights.of(checkpoint.tensors().values()).type().stream()
                    .toList();
            return Devices.describe(cpu.on(device, threads), types);
        }
    }

    private void table(ModelBenchmark.Plan plan) {
        PrintWriter out = specification.commandLine().getOut();
        if (device.equals("cpu")) {
            out.println("products: " + products());
        }
        out.printf(Locale.ROOT, ROW, "model", "backend", "threads", "batch", "test", "tokens/s", "GB/s");
        String line = "-".repeat(5);
        out.printf(Locale.ROOT, ROW, line, line, line, line, line, line, line);
        out.flush();
        var used = new AtomicInteger(1);
        double loading = ModelBenchmark.run(ModelNames.resolve(model), adapters, plan, result -> {
            used.set(result.threads());
            String rate =
                    String.format(Locale.ROOT, "%.2f ± %.2f", result.tokensPerSecond(), result.standardDeviation());
            String bytes = result.bytesPerSecond() == 0
                    ? ""
                    : String.format(Locale.ROOT, "%.1f", result.bytesPerSecond() / 1e9);
            out.printf(
                    Locale.ROOT,
                    ROW,
                    result.model(),
                    result.backend(),
                    result.threads(),
                    result.batch(),
                    result.test(),
                    rate,
                    bytes);
            if (hasProfile) {
                out.println(result.profile());
            }
            out.flush();
        });
        out.printf(Locale.ROOT, "loaded in %.2f s%n", loading);
        if (!device.equals("cpu")) {
            return;
        }
        int all = used.get();
        var memory = MemoryBandwidth.measure(all);
        out.printf(
                Locale.ROOT,
                "memory, %d threads: read %.1f GB/s, copy %.1f GB/s%n",
                all,
                memory.readBytesPerSecond() / 1e9,
                memory.copyBytesPerSecond() / 1e9);
        out.flush();
    }

    private void json(ModelBenchmark.Plan plan) {
        var rows = new ArrayList<Map<String, Object>>();
        ModelBenchmark.run(ModelNames.resolve(model), adapters, plan, result -> {
            var row = new LinkedHashMap<String, Object>();
            row.put("model", result.model());
            row.put("backend", result.backend());
            row.put("threads", result.threads());
            row.put("batch", result.batch());
            row.put("test", result.test());
            row.put("tokens_per_second", result.tokensPerSecond());
            row.put("stdev", result.standardDeviation());
            rows.add(row);
        });
        PrintWriter out = specification.commandLine().getOut();
        out.println(JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(rows));
        out.flush();
    }
}
