package roselle.cli.bench;

import picocli.CommandLine.Option;
import roselle.bench.backend.Sampling;

/** The options of measurements that say how tokens are drawn; the articles' values are the defaults. */
final class DrawFlags {
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

    Sampling sampling() {
        return new Sampling(temperature, topP, topK, ignoresEos);
    }

    long seed() {
        return seed;
    }
}
