package roselle.cli.bench;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import roselle.bench.backend.AnswerFormat;
import roselle.bench.backend.Sampling;
import roselle.cli.option.TextInput;
import roselle.cli.report.Heading;
import roselle.cli.report.NearNames;

/** The options of measurements that say how tokens are drawn; the articles' values are the defaults. */
@Heading("How tokens are drawn")
final class DrawFlags {
    private static final int MAX_BYTES = 16 << 20;

    @Option(names = "--temperature", paramLabel = "X", defaultValue = "0.7", description = "Default: 0.7.")
    private double temperature;

    @Option(names = "--top-p", paramLabel = "X", defaultValue = "0.9", description = "Default: 0.9.")
    private double topP;

    @Option(names = "--top-k", paramLabel = "N", defaultValue = "50", description = "0 keeps all; default: 50.")
    private int topK;

    @Option(
            names = "--ignore-eos",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description = "Answers have the lengths asked for, whatever the model says; on unless --no-ignore-eos.")
    private boolean ignoresEos;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "2", description = "Of the prompts; default: 2.")
    private long seed;

    @Option(
            names = "--response-format",
            paramLabel = "FILE|json",
            description = "Hold answers to the JSON schema of a file, or to any JSON object; those that are whole end"
                    + " early, --ignore-eos or not.")
    private @Nullable Path format;

    Sampling sampling() {
        return new Sampling(temperature, topP, topK, ignoresEos, format());
    }

    private AnswerFormat format() {
        if (format == null) {
            return AnswerFormat.TEXT;
        }
        if (format.toString().equals(AnswerFormat.JSON.name())) {
            return AnswerFormat.JSON;
        }
        Path file = NearNames.existing(format);
        return new AnswerFormat(file.toString(), TextInput.ofFile(file, MAX_BYTES, ": no schema is as long"));
    }

    long seed() {
        return seed;
    }
}
