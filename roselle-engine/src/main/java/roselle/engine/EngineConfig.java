package roselle.engine;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import roselle.api.InvalidRequestException;
import roselle.backend.DeviceOptions;
import roselle.backend.memory.KvType;
import roselle.conversation.FormatFinder;

/**
 * What an engine is opened with. Every size has a default, and 0 lets the engine choose.
 *
 * @param model a GGUF file, or a folder with safetensors and their JSON files
 * @param device where to run it
 * @param cache the memory for keys and values
 * @param batch how much runs at a time
 * @param overlap whether a step may be launched before the tokens of the one before are read
 * @param toolParser the format in which the model calls tools, such as {@code hermes}; {@code auto} finds it from the chat
 *     template, {@code none} knows none
 * @param adapterMemory bytes that adapters may take; those that requests do not hold are given up for others, and read again
 * @param deviceMemory bytes that may be taken of a device's own memory in all; 0 for nearly all that is free
 */
public record EngineConfig(
        Path model,
        DeviceOptions device,
        CacheOptions cache,
        BatchOptions batch,
        Overlap overlap,
        String toolParser,
        long adapterMemory,
        long deviceMemory) {
    /** What adapters may take unless it is said. */
    public static final long ADAPTER_MEMORY = 1L << 30;

    public EngineConfig {
        FormatFinder.requireKnown(toolParser);
        requireAtLeast("adapter memory", adapterMemory, 0);
        requireAtLeast("device memory", deviceMemory, 0);
    }

    /** What may take nearly all that is free of a device's own memory. */
    public EngineConfig(
            Path model,
            DeviceOptions device,
            CacheOptions cache,
            BatchOptions batch,
            Overlap overlap,
            String toolParser,
            long adapterMemory) {
        this(model, device, cache, batch, overlap, toolParser, adapterMemory, 0);
    }

    /**
     * The memory for keys and values.
     *
     * @param kvType {@code f32}, {@code f16}, {@code bf16}, {@code fp8}, {@code int8}, {@code int4} ({@link KvType}), or
     *     {@code auto}, which is f16 unless the weights are f32
     * @param kvMemory bytes taken at start; 0 for what {@code maxSequences} need, within an eighth of the machine's memory
     * @param pageTokens tokens that share a page
     * @param prefixCache whether requests may reuse the keys and values of a common beginning
     * @param sharesAcrossKeys whether they may also where {@link roselle.api.SchedulingOptions#key} differs; a key then learns
     *     from its first token's time what others have asked
     * @param checkpoints states for each of {@code maxSequences} beside those that it works with, of models whose layers keep
     *     states: what later requests may go on from; llama.cpp's context checkpoints
     */
    public record CacheOptions(
            String kvType,
            long kvMemory,
            int pageTokens,
            boolean prefixCache,
            boolean sharesAcrossKeys,
            int checkpoints) {
        private static final String AUTO = "auto";

        public static final CacheOptions DEFAULT = new CacheOptions("auto", 0, 16, true);

        /** Each key's prefixes are its own. */
        public CacheOptions(String kvType, long kvMemory, int pageTokens, boolean prefixCache) {
            this(kvType, kvMemory, pageTokens, prefixCache, false, 1);
        }

        /** What a name stands for; empty for {@code auto}. */
        static Optional<KvType> type(String name) {
            String known = name.toLowerCase(Locale.ROOT);
            if (known.equals(AUTO)) {
                return Optional.empty();
            }
            for (KvType type : KvType.all()) {
                if (type.label().equals(known)) {
                    return Optional.of(type);
                }
            }
            throw new InvalidRequestException(
                    "kv type is " + name + ": it must be " + AUTO + ", " + KvType.labels(KvType.all()));
        }

        /** The same, but for who shares prefixes. */
        public CacheOptions sharedAcrossKeys(boolean value) {
            return new CacheOptions(kvType, kvMemory, pageTokens, prefixCache, value, checkpoints);
        }

        /** The same with so many states for later requests. */
        public CacheOptions withCheckpoints(int value) {
            return new CacheOptions(kvType, kvMemory, pageTokens, prefixCache, sharesAcrossKeys, value);
        }

        public CacheOptions {
            type(kvType);
            requireAtLeast("kv memory", kvMemory, 0);
            requireAtLeast("page tokens", pageTokens, 1);
            requireBetween("checkpoints", checkpoints, 1);
        }
    }

    /**
     * How much runs at a time.
     *
     * @param context tokens of the longest sequence; 0 for the model's own limit, or less where memory is short
     * @param maxSequences answers that are generated at a time
     * @param stepTokens tokens of a step at most, prompts and answers together
     * @param chunkTokens tokens of one prompt in a step at most; 0 for all of {@code stepTokens}
     * @param maxQueue answers that wait at a time; one more is refused
     */
    public record BatchOptions(int context, int maxSequences, int stepTokens, int chunkTokens, int maxQueue) {
        /** The most that each of these sizes can be: sums of them stay far from the largest integer. */
        public static final int MAX_SIZE = 100_000_000;

        public static final BatchOptions DEFAULT = new BatchOptions(0, 64, 512, 0, 1024);

        public BatchOptions {
            requireBetween("context", context, 0);
            if (context == 1) {
                throw new InvalidRequestException(
                        "context is 1: it must be at least 2, a token of the prompt and one of the answer");
            }
            requireBetween("max sequences", maxSequences, 1);
            requireBetween("step tokens", stepTokens, maxSequences);
            requireBetween("chunk tokens", chunkTokens, 0);
            requireBetween("max queue", maxQueue, 1);
        }

        int effectiveChunkTokens() {
            return chunkTokens == 0 ? stepTokens : Math.min(chunkTokens, stepTokens);
        }
    }

    /** A model with every default. */
    public static EngineConfig of(Path model) {
        return new EngineConfig(
                model,
                DeviceOptions.DEFAULT,
                CacheOptions.DEFAULT,
                BatchOptions.DEFAULT,
                Overlap.AUTO,
                FormatFinder.AUTO,
                ADAPTER_MEMORY,
                0);
    }

    public EngineConfig with(DeviceOptions value) {
        return new EngineConfig(model, value, cache, batch, overlap, toolParser, adapterMemory, deviceMemory);
    }

    public EngineConfig with(CacheOptions value) {
        return new EngineConfig(model, device, value, batch, overlap, toolParser, adapterMemory, deviceMemory);
    }

    public EngineConfig with(BatchOptions value) {
        return new EngineConfig(model, device, cache, value, overlap, toolParser, adapterMemory, deviceMemory);
    }

    public EngineConfig with(Overlap value) {
        return new EngineConfig(model, device, cache, batch, value, toolParser, adapterMemory, deviceMemory);
    }

    /** The same with another format of calls. */
    public EngineConfig withToolParser(String value) {
        return new EngineConfig(model, device, cache, batch, overlap, value, adapterMemory, deviceMemory);
    }

    /** The same with another bound for adapters. */
    public EngineConfig withAdapterMemory(long value) {
        return new EngineConfig(model, device, cache, batch, overlap, toolParser, value, deviceMemory);
    }

    /** The same with so much of a device's own memory, which others may still have when it is planned. */
    public EngineConfig withDeviceMemory(long value) {
        return new EngineConfig(model, device, cache, batch, overlap, toolParser, adapterMemory, value);
    }

    private static void requireBetween(String field, long value, long least) {
        requireAtLeast(field, value, least);
        if (value > BatchOptions.MAX_SIZE) {
            throw new InvalidRequestException(field + " is " + value + ": it must be at most " + BatchOptions.MAX_SIZE);
        }
    }

    private static void requireAtLeast(String field, long value, long least) {
        if (value < least) {
            throw new InvalidRequestException(field + " is " + value + ": it must be at least " + least);
        }
    }
}
