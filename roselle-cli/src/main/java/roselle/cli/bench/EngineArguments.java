package roselle.cli.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import roselle.bench.stage.OfflinePlan;
import roselle.cli.option.EngineFlags;
import roselle.engine.EngineConfig;

/** The engine's options from words that are not this process's command line. */
@Command
final class EngineArguments {
    private static final int MAX_SEQUENCES = 256;

    @Mixin
    private EngineFlags flags = new EngineFlags();

    private EngineArguments() {}

    /** What the offline work needs, and then these words, which win. */
    static EngineConfig of(Path model, OfflinePlan plan, boolean hasPrefixCache, List<String> further) {
        int sequences = Math.min(plan.prompts(), MAX_SEQUENCES);
        var words = new ArrayList<>(List.of("--max-sequences", Integer.toString(sequences)));
        words.addAll(List.of("--context", Integer.toString(plan.inputTokens() + plan.outputTokens() + 1)));
        if (!hasPrefixCache) {
            words.add("--no-prefix-cache");
        }
        words.addAll(further);
        var arguments = new EngineArguments();
        new CommandLine(arguments).setOverwrittenOptionsAllowed(true).parseArgs(words.toArray(String[]::new));
        return arguments.flags.config(model, sequences);
    }
}
