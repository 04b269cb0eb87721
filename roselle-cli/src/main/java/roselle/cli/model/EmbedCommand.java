package roselle.cli.model;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.api.InvalidRequestException;
import roselle.backend.DeviceOptions;
import roselle.cli.option.CpuFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.report.NearNames;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.SparseVector;
import tools.jackson.databind.JsonNode;

/** {@code roselle embed}: a vector for each text of a file, or scores for each pair, a JSON array a line. */
@Command(name = "embed")
public final class EmbedCommand implements Runnable {
    /** Texts that are given to the engine at a time: enough for some steps. */
    private static final int AT_A_TIME = 256;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "MODEL", description = "An encoder: a folder or a .gguf.")
    private Path model = Path.of("");

    @Option(
            names = "--jsonl",
            paramLabel = "FILE",
            description =
                    "A file with a JSON string on each line, of a classifier also an array of two; default: standard input.")
    private Optional<Path> lines = Optional.empty();

    @Option(
            names = "--prompt-name",
            paramLabel = "NAME",
            description = "The model's prompt that goes before each text; default: the model's default.")
    private @Nullable String prompt;

    @Option(
            names = "--task",
            paramLabel = "NAME",
            description = "What the vectors are for, of models with adapters of tasks; default: nothing in particular.")
    private @Nullable String task;

    @Option(
            names = "--dimensions",
            paramLabel = "N",
            defaultValue = "0",
            description = "Numbers that stay of each vector; default: all.")
    private int dimensions;

    @Option(
            names = "--sparse",
            description = "Write sparse vectors: of each text an array of tokens' ids, each with its weight.")
    private boolean isSparse;

    @Option(names = "--truncate", description = "Leave out the end of texts that are too long.")
    private boolean truncates;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "cpu",
            description = "auto, cpu, cuda or cuda:N, as for roselle run; default: ${DEFAULT-VALUE}.")
    private String device = "cpu";

    @Mixin
    private CpuFlags cpu = new CpuFlags();

    @Override
    public void run() {
        var options = new EmbeddingOptions(prompt, dimensions, truncates, Duration.ZERO, null, task, isSparse);
        Path file = NearNames.existing(ModelNames.resolve(model));
        var config = EmbeddingConfig.of(file).with(new DeviceOptions(device, 0, cpu.path(), cpu.compute()));
        PrintWriter out = specification.commandLine().getOut();
        try (var engine = EmbeddingEngine.open(config);
                var input = new JsonLines(lines)) {
            var batch = new ArrayList<JsonNode>();
            for (var line = input.next(); line.isPresent(); line = input.next()) {
                requireText(line.get(), input.number());
                batch.add(line.get());
                if (batch.size() == AT_A_TIME) {
                    answer(engine, batch, options, out);
                }
            }
            answer(engine, batch, options, out);
        }
        out.flush();
    }

    /** Writes what the lines give, in their order, and forgets them. */
    private static void answer(
            EmbeddingEngine engine, List<JsonNode> batch, EmbeddingOptions options, PrintWriter out) {
        int from = 0;
        while (from < batch.size()) {
            int end = from + 1;
            if (batch.get(from).isString()) {
                while (end < batch.size() && batch.get(end).isString()) {
                    end++;
                }
                List<String> texts = batch.subList(from, end).stream()
                        .map(JsonNode::stringValue)
                        .toList();
                engine.embed(texts, options).vectors().forEach(vector -> out.println(written(vector, options)));
            } else {
                String first = batch.get(from).get(0).stringValue();
                List<String> second = List.of(batch.get(from).get(1).stringValue());
                engine.score(first, second, options).vectors().forEach(scores -> out.println(written(scores)));
            }
            from = end;
        }
        batch.clear();
    }

    private static String written(float[] vector, EmbeddingOptions options) {
        if (!options.sparse()) {
            return written(vector);
        }
        SparseVector sparse = SparseVector.of(vector);
        var array = JsonLines.MAPPER.createArrayNode();
        for (int i = 0; i < sparse.indices().length; i++) {
            array.addArray().add(sparse.indices()[i]).add(sparse.values()[i]);
        }
        return JsonLines.MAPPER.writeValueAsString(array);
    }

    private static String written(float[] vector) {
        return JsonLines.MAPPER.writeValueAsString(vector);
    }

    private static void requireText(JsonNode value, int number) {
        boolean isPair = value.isArray()
                && value.size() == 2
                && value.get(0).isString()
                && value.get(1).isString();
        if (!value.isString() && !isPair) {
            throw new InvalidRequestException("line " + number
                    + " is no text: write a JSON string on each line, or an array of two for a classifier of pairs");
        }
    }
}
