package roselle.cli.model;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/** {@code roselle rerank}: the texts of each line of a file in the order in which they fit to its query, best first. */
@Command(name = "rerank")
public final class RerankCommand implements Runnable {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "MODEL", description = "A cross-encoder, or a decoder that ranks.")
    private Path model = Path.of("");

    @Option(
            names = "--jsonl",
            paramLabel = "FILE",
            description =
                    "A file with {\"query\": TEXT, \"documents\": [TEXT, …]} on each line; default: standard input.")
    private Optional<Path> lines = Optional.empty();

    @Option(
            names = "--instruction",
            paramLabel = "TEXT",
            description = "What the ranking is for, for decoders that are told so; default: the model's own.")
    private @Nullable String instruction;

    @Option(names = "--raw-scores", description = "Write logits, and not their sigmoid.")
    private boolean isRaw;

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
        var options = new EmbeddingOptions(null, 0, truncates, Duration.ZERO, instruction);
        Path file = NearNames.existing(ModelNames.resolve(model));
        var config = EmbeddingConfig.of(file).with(new DeviceOptions(device, 0, cpu.path(), cpu.compute()));
        PrintWriter out = specification.commandLine().getOut();
        try (var engine = EmbeddingEngine.open(config);
                var input = new JsonLines(lines)) {
            if (engine.labels().size() != 1) {
                throw new InvalidRequestException(
                        file + " has " + engine.labels().size() + " labels: what ranks texts is a classifier with one");
            }
            for (var line = input.next(); line.isPresent(); line = input.next()) {
                JsonNode asked = line.get();
                requireRight(asked, input.number());
                List<String> texts = asked.path("documents").values().stream()
                        .map(JsonNode::stringValue)
                        .toList();
                out.println(ranked(engine.score(asked.path("query").stringValue(), texts, options)
                        .vectors()));
            }
        }
        out.flush();
    }

    private static void requireRight(JsonNode asked, int number) {
        boolean isRight = asked.isObject()
                && asked.size() == 2
                && asked.path("query").isString()
                && asked.path("documents").isArray()
                && asked.path("documents").valueStream().allMatch(JsonNode::isString);
        if (!isRight) {
            throw new InvalidRequestException("line " + number
                    + " is no ranking: write {\"query\": TEXT, \"documents\": [TEXT, …]} on each line");
        }
    }

    /** The places of the texts with their scores, the highest first; of equal ones that which came first. */
    private ArrayNode ranked(List<float[]> logits) {
        ArrayNode ranks = JsonLines.MAPPER.createArrayNode();
        IntStream.range(0, logits.size())
                .boxed()
                .sorted(Comparator.comparingDouble(place -> -logits.get(place)[0]))
                .forEach(place -> ranks.addObject().put("index", place).put("score", score(logits.get(place)[0])));
        return ranks;
    }

    private double score(float logit) {
        return isRaw ? logit : 1 / (1 + Math.exp(-logit));
    }
}
