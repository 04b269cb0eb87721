package roselle.cli.bench;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import roselle.bench.stage.OfflinePlan;
import roselle.bench.stage.PromptSource;
import roselle.cli.report.Heading;

/** The options that say what the offline work is; the articles' values are the defaults. */
@Heading("Requests")
final class OfflineFlags {
    @Option(names = "--num-prompts", paramLabel = "N", defaultValue = "128", description = "Default: 128.")
    private int prompts;

    @Option(names = "--input-len", paramLabel = "N", defaultValue = "256", description = "Of a prompt; default: 256.")
    private int inputTokens;

    @Option(names = "--output-len", paramLabel = "N", defaultValue = "64", description = "Of an answer; default: 64.")
    private int outputTokens;

    @Option(names = "--repeats", paramLabel = "N", defaultValue = "3", description = "After one warm-up; default: 3.")
    private int repeats;

    @Option(
            names = "--articles",
            description = "Draw prompts as the articles' Python script does, with its seeds from 0 (to warm up) on.")
    private boolean isArticles;

    @Mixin
    private DrawFlags draw = new DrawFlags();

    OfflinePlan plan() {
        return new OfflinePlan(
                prompts, inputTokens, outputTokens, draw.sampling(), isArticles ? 1 : draw.seed(), repeats);
    }

    /** The prompts as they are to be drawn. */
    PromptSource drawn(PromptSource prompts) {
        return isArticles ? prompts.drawnAsPython() : prompts;
    }
}
