package roselle.cli.option;

import java.nio.file.Path;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import roselle.cli.report.ByteSize;
import roselle.cli.report.Heading;
import roselle.cli.report.NearNames;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.engine.Overlap;

/** The options that say how the engine is set up. */
@Heading("Engine")
public final class EngineFlags {
    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "auto",
            description =
                    "cpu, cuda, cuda:N (the GPU of that number, from 0), or auto, which is the first GPU there is, else the CPU;"
                            + " default: ${DEFAULT-VALUE}.")
    private String device = "auto";

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Threads of the CPU; default: one per core, fewer for tiny models.")
    private int threads;

    @Mixin
    private CpuFlags cpu = new CpuFlags();

    @Option(
            names = "--context",
            paramLabel = "N",
            description = "Tokens of prompt and answer together; default: the model's limit, or what fits.")
    private int context;

    @Option(
            names = "--kv-type",
            paramLabel = "TYPE",
            defaultValue = "auto",
            description =
                    "How keys and values are stored: auto, f32, f16, bf16, fp8, int8 or int4; default: ${DEFAULT-VALUE}.")
    private String kvType = "auto";

    @Option(
            names = "--kv-memory",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description = "Memory for keys and values, such as 512M or 2G; default: what --max-sequences need.")
    private long kvMemory;

    @Option(
            names = "--max-sequences",
            paramLabel = "N",
            description = "Answers made at a time; default: as many as --n, 64 for roselle serve.")
    private int maxSequences;

    @Option(
            names = "--ctx-checkpoints",
            paramLabel = "N",
            description =
                    "States for each of --max-sequences that later prompts go on from, where layers keep states, not keys"
                            + " and values; default: 1.")
    private int checkpoints = CacheOptions.DEFAULT.checkpoints();

    @Option(names = "--max-queue", paramLabel = "N", description = "Answers that wait at a time; default: 1024.")
    private int maxQueue = BatchOptions.DEFAULT.maxQueue();

    @Option(names = "--step-tokens", paramLabel = "N", description = "Tokens of a step at most; default: 512.")
    private int stepTokens = BatchOptions.DEFAULT.stepTokens();

    @Option(names = "--chunk-tokens", paramLabel = "N", description = "Tokens of a prompt in a step; default: all.")
    private int chunkTokens;

    @Option(
            names = "--overlap",
            paramLabel = "WHEN",
            defaultValue = "auto",
            description =
                    "on launches a step before the tokens of the one before are read; auto, the default, is on for GPUs.")
    private String overlap = "auto";

    @Option(
            names = "--tool-parser",
            paramLabel = "NAME",
            defaultValue = "auto",
            description =
                    "The format in which the model calls tools, such as hermes or llama3_json; auto, the default, finds it from"
                            + " the chat template, none takes calls for text.")
    private String toolParser = "auto";

    @Option(names = "--no-prefix-cache", description = "Compute each prompt anew.")
    private boolean hasNoPrefixCache;

    @Option(names = "--offline", description = "Fetch no model: what MODEL names has to be here.")
    private boolean isOffline;

    public boolean isOffline() {
        return isOffline;
    }

    /** The engine's configuration, with room for {@code choices} answers at a time unless another number was asked for. */
    public EngineConfig config(Path model, int choices) {
        int sequences = maxSequences == 0 ? choices : maxSequences;
        var cache = CacheOptions.DEFAULT;
        return EngineConfig.of(NearNames.existing(ModelNames.resolve(model, isOffline)))
                .with(cpu.on(device, threads))
                .with(new CacheOptions(kvType, kvMemory, cache.pageTokens(), !hasNoPrefixCache)
                        .withCheckpoints(checkpoints))
                .with(new BatchOptions(context, sequences, stepTokens, chunkTokens, maxQueue))
                .with(Overlap.of(overlap))
                .withToolParser(toolParser);
    }
}
