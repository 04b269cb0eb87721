package roselle.cli.model;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.checkpoint.summary.ModelSummary;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.cli.option.CpuFlags;
import roselle.cli.option.ModelNames;
import roselle.engine.Devices;
import roselle.quantization.Quantization;
import roselle.tensor.Tensor;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code roselle inspect}: what a model is and what it needs, read from its headers alone. */
@Command(name = "inspect")
public final class InspectCommand implements Runnable {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(paramLabel = "MODEL", description = "A folder, .gguf, .safetensors or tokenizer file, or demo.")
    private Path model = Path.of("");

    @Option(names = "--json", description = "Print one JSON object, tensors included.")
    private boolean isJson;

    @Option(names = "--tensors", description = "List every tensor.")
    private boolean listsTensors;

    @Mixin
    private CpuFlags cpu = new CpuFlags();

    @Override
    public void run() {
        PrintWriter out = specification.commandLine().getOut();
        long start = System.nanoTime();
        try (var checkpoint = Checkpoints.open(ModelNames.resolve(model))) {
            double openMillis = (System.nanoTime() - start) / 1e6;
            ModelSummary summary = summary(checkpoint);
            DecoderReport decoder = DecoderReport.of(checkpoint);
            if (isJson) {
                out.println(json(checkpoint, summary, decoder, openMillis));
            } else {
                print(out, checkpoint, summary, decoder, openMillis);
            }
        }
        out.flush();
    }

    /** What a model's headers tell, without its tensors one by one. */
    static void describe(Path model, PrintWriter out) {
        long start = System.nanoTime();
        try (var checkpoint = Checkpoints.open(model)) {
            double openMillis = (System.nanoTime() - start) / 1e6;
            ModelSummary summary = summary(checkpoint);
            new InspectCommand().print(out, checkpoint, summary, DecoderReport.of(checkpoint), openMillis);
        }
    }

    /** Scales count as such where it is known which tensors have them. */
    private static ModelSummary summary(Checkpoint checkpoint) {
        try {
            return ModelSummary.of(checkpoint, Quantization.of(checkpoint)::use);
        } catch (CheckpointException unknown) { // the report on the decoder says so
            return ModelSummary.of(checkpoint);
        }
    }

    private void print(
            PrintWriter out, Checkpoint checkpoint, ModelSummary summary, DecoderReport decoder, double openMillis) {
        line(out, "model", checkpoint.source().toString());
        line(out, "format", formatName(checkpoint));
        line(out, "architecture", summary.architecture().orElse("unknown"));
        line(out, "parameters", grouped(summary.parameters()));
        line(
                out,
                "formats",
                summary.types().stream().map(InspectCommand::describe).collect(Collectors.joining(", ")));
        decoder.quantization().ifPresent(text -> line(out, "quantization", text));
        line(out, "tensors", grouped(checkpoint.tensors().size()));
        line(out, "context", tokens(summary.contextLength()));
        line(out, "vocabulary", tokens(summary.vocabulary()));
        line(out, "chat template", summary.hasChatTemplate() ? "yes" : "no");
        line(out, "on disk", bytes(summary.bytesOnDisk()));
        line(out, "memory", "weights " + bytes(summary.weightBytes()) + "; " + describeCache(summary, decoder));
        line(
                out,
                "supported",
                decoder.isSupported() ? "yes" : "no: " + decoder.refusal().orElse(""));
        line(out, "products", products(summary));
        line(out, "opened in", String.format(Locale.ROOT, "%.1f ms", openMillis));
        if (listsTensors) {
            checkpoint.tensors().values().forEach(tensor -> out.println(describe(tensor)));
        }
    }

    private String products(ModelSummary summary) {
        var types = summary.types().stream()
                .sorted(Comparator.comparingLong(TypeUse::bytes).reversed())
                .map(TypeUse::type)
                .toList();
        return Devices.describe(cpu.on("cpu", 0), types);
    }

    private static void line(PrintWriter out, String name, String value) {
        out.println(String.format(Locale.ROOT, "%-14s %s", name, value));
    }

    private static String formatName(Checkpoint checkpoint) {
        return switch (checkpoint.format()) {
            case GGUF -> "GGUF";
            case HUGGING_FACE -> "Hugging Face";
        };
    }

    private static String describe(TypeUse use) {
        return use.type().label() + ": " + grouped(use.elements()) + " in " + use.tensors() + " tensors of "
                + bytes(use.bytes());
    }

    private static String describe(Tensor tensor) {
        return String.format(Locale.ROOT, "%-8s %-20s %s", tensor.type().label(), tensor.shape(), tensor.name());
    }

    private static String describeCache(ModelSummary summary, DecoderReport decoder) {
        if (decoder.isSupported()) {
            String states = decoder.stateBytes() == 0
                    ? ""
                    : "; states " + bytes(decoder.stateBytes()) + " per sequence in 32 bits";
            return describeCache(decoder.bytesPerToken(), decoder.bytesForContext()) + states;
        }
        if (summary.kvBytesPerToken().isEmpty()) {
            return "KV unknown";
        }
        long perToken = summary.kvBytesPerToken().getAsLong();
        return describeCache(
                perToken, (double) perToken * summary.contextLength().orElse(0));
    }

    private static String describeCache(long perToken, double forContext) {
        String each = "KV " + bytes(perToken) + " per token in 16 bits";
        return forContext == 0 ? each : each + ", " + scaled(forContext) + " for a full context";
    }

    private static String tokens(OptionalInt count) {
        return count.isPresent() ? grouped(count.getAsInt()) + " tokens" : "unknown";
    }

    private static String grouped(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static String bytes(long count) {
        return scaled((double) count);
    }

    private static String scaled(double count) {
        int unit = 0;
        double scaled = count;
        while (scaled >= 1024) {
            scaled /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", scaled, UNITS[unit]);
    }

    private String json(Checkpoint checkpoint, ModelSummary summary, DecoderReport decoder, double openMillis) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("model", checkpoint.source().toString());
        root.put("format", checkpoint.format().name().toLowerCase(Locale.ROOT));
        root.put("architecture", summary.architecture().orElse(null));
        root.put("parameters", summary.parameters());
        var types = root.putArray("formats");
        summary.types()
                .forEach(use -> types.addObject()
                        .put("type", use.type().label())
                        .put("tensors", use.tensors())
                        .put("elements", use.elements())
                        .put("bytes", use.bytes()));
        root.put("quantization", decoder.quantization().orElse(null));
        putIfKnown(root, "context_length", summary.contextLength());
        putIfKnown(root, "vocabulary_size", summary.vocabulary());
        root.put("chat_template", summary.hasChatTemplate());
        root.put("bytes_on_disk", summary.bytesOnDisk());
        putMemory(root.putObject("memory"), summary, decoder);
        root.put("supported", decoder.isSupported());
        root.put("unsupported_reason", decoder.refusal().orElse(null));
        root.put("products", products(summary));
        root.put("open_millis", openMillis);
        var tensors = root.putArray("tensors");
        checkpoint.tensors().values().forEach(tensor -> putTensor(tensors.addObject(), tensor));
        return JsonMapper.shared().writeValueAsString(root);
    }

    private static void putMemory(ObjectNode memory, ModelSummary summary, DecoderReport decoder) {
        memory.put("weights_bytes", summary.weightBytes());
        if (!decoder.isSupported()) {
            summary.kvBytesPerToken()
                    .ifPresentOrElse(
                            bytes -> memory.put("kv_bytes_per_token", bytes),
                            () -> memory.putNull("kv_bytes_per_token"));
            return;
        }
        memory.put("kv_bytes_per_token", decoder.bytesPerToken());
        memory.put("kv_bytes_for_context", Math.round(decoder.bytesForContext()));
        memory.put("state_bytes_per_sequence", decoder.stateBytes());
        var groups = memory.putArray("kv_groups");
        for (var group : decoder.groups()) {
            groups.addObject()
                    .put("name", group.name())
                    .put("layers", group.layers())
                    .put("window", group.window())
                    .put("bytes_per_token", DecoderReport.bytesPerToken(group))
                    .put("state_bytes", DecoderReport.stateBytes(group));
        }
    }

    private static void putIfKnown(ObjectNode root, String key, OptionalInt value) {
        value.ifPresentOrElse(known -> root.put(key, known), () -> root.putNull(key));
    }

    private static void putTensor(ObjectNode target, Tensor tensor) {
        target.put("name", tensor.name()).put("type", tensor.type().label());
        var shape = target.putArray("shape");
        Arrays.stream(tensor.shape().toArray()).forEach(shape::add);
        target.put("bytes", tensor.data().byteSize());
    }
}
