package roselle.embedding;

import java.util.OptionalLong;
import roselle.api.CapacityException;
import roselle.backend.Device;
import roselle.backend.memory.KvType;
import roselle.backend.step.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.engine.Devices;
import roselle.model.LoadPlan;
import roselle.model.MemoryPlan;
import roselle.model.spec.DecoderSpec;
import roselle.model.weights.Blueprint;

/**
 * What an {@link EmbeddingEngine} will take, decided before anything is loaded.
 *
 * @param limits the largest step
 * @param maxWaiting texts that may wait for a step
 */
record EncoderSizes(Blueprint blueprint, SentenceFolder folder, StepLimits limits, int maxWaiting, EmbeddingPlan plan) {
    private static final int LEAST_STEP_TOKENS = 512;
    private static final int STEP_TEXTS = 64;

    /** On devices with memory of their own, which are not full of fewer. */
    private static final int LEAST_OWN_STEP_TOKENS = 16_384;

    private static final int OWN_STEP_TEXTS = 512;

    /** One such part of a device's own memory stays free, for the driver. */
    private static final int OWN_PARTS = 16;

    static EncoderSizes of(EmbeddingConfig config, Checkpoint checkpoint, Device device) {
        Blueprint blueprint = Encoders.blueprint(checkpoint);
        SentenceFolder folder = SentenceFolder.of(checkpoint);
        int context = context(config, blueprint, folder);
        boolean isOwn = device.memoryBytes().isPresent();
        boolean isWide = blueprint.spec().generates(); // then each token has as many numbers as there are others
        int unasked = isOwn && !isWide ? LEAST_OWN_STEP_TOKENS : LEAST_STEP_TOKENS;
        int rows = Math.max(context, config.stepTokens() > 0 ? config.stepTokens() : unasked);
        int texts = config.stepTexts() > 0 ? config.stepTexts() : isOwn ? OWN_STEP_TEXTS : STEP_TEXTS;
        StepLimits limits = EncoderModel.limits(rows, Math.min(texts, rows), context);
        var load = LoadPlan.of(checkpoint, blueprint, device);
        if (isOwn) { // nothing is read in place, and nothing else lives there
            load = load.onDevice();
        }
        long bytes = bytes(checkpoint, load, blueprint.spec(), limits, device);
        long there = memoryBytes(config, device);
        if (bytes > there) {
            throw new CapacityException("the model needs " + bytes + " bytes for steps of " + limits.maxRows()
                    + " tokens, but there are " + there + ": ask for a shorter context, or smaller steps");
        }
        var plan = new EmbeddingPlan(bytes, checkpoint.tensorBytes(), limits.maxContext(), there);
        return new EncoderSizes(blueprint, folder, limits, config.maxWaiting(), plan);
    }

    private static int context(EmbeddingConfig config, Blueprint blueprint, SentenceFolder folder) {
        int positions = blueprint.spec().context();
        if (config.context() > positions) {
            throw new CapacityException("a context of " + config.context() + " tokens is more than the " + positions
                    + " that the model was made for: ask for less");
        }
        return config.context() > 0
                ? config.context()
                : Math.clamp(folder.maxTokens().orElse(positions), 1, positions);
    }

    /** What the model needs, with all that steps take. */
    private static long bytes(
            Checkpoint checkpoint, LoadPlan load, DecoderSpec spec, StepLimits limits, Device device) {
        KvType kvType = KvType.of(device.activationType());
        var memory = MemoryPlan.of(load, spec, limits, kvType, device.activationType());
        return memory.totalBytes(EncoderModel.pages(spec, limits, device).pages())
                + TaskAdapters.bytes(checkpoint, spec)
                + device.stepBytes(spec.demands(limits, kvType));
    }

    private static long memoryBytes(EmbeddingConfig config, Device device) {
        OptionalLong own = device.memoryBytes();
        if (own.isEmpty()) {
            return Devices.memoryBytes(device);
        }
        return config.deviceMemory() > 0 ? config.deviceMemory() : own.getAsLong() / OWN_PARTS * (OWN_PARTS - 1);
    }
}
