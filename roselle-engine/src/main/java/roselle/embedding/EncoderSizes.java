package roselle.embedding;

import roselle.api.CapacityException;
import roselle.backend.Device;
import roselle.backend.memory.KvType;
import roselle.backend.step.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.engine.Devices;
import roselle.model.LoadPlan;
import roselle.model.MemoryPlan;
import roselle.model.weights.Blueprint;

/**
 * What an {@link EmbeddingEngine} will take, decided before anything is loaded.
 *
 * @param limits the largest step
 * @param maxWaiting texts that may wait for a step
 */
record EncoderSizes(Blueprint blueprint, SentenceFolder folder, StepLimits limits, int maxWaiting, EmbeddingPlan plan) {
    private static final int LEAST_STEP_TOKENS = 512;

    static EncoderSizes of(EmbeddingConfig config, Checkpoint checkpoint, Device device) {
        Blueprint blueprint = Encoders.blueprint(checkpoint);
        SentenceFolder folder = SentenceFolder.of(checkpoint);
        int context = context(config, blueprint, folder);
        int rows =
                Math.max(context, config.stepTokens() > 0 ? config.stepTokens() : Math.max(context, LEAST_STEP_TOKENS));
        StepLimits limits = EncoderModel.limits(rows, config.stepTexts(), context);
        return new EncoderSizes(
                blueprint, folder, limits, config.maxWaiting(), plan(checkpoint, blueprint, limits, device));
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

    /** What the model needs, which must be there. */
    private static EmbeddingPlan plan(Checkpoint checkpoint, Blueprint blueprint, StepLimits limits, Device device) {
        var memory = MemoryPlan.of(
                LoadPlan.of(checkpoint, blueprint, device),
                blueprint.spec(),
                limits,
                KvType.of(device.activationType()),
                device.activationType());
        long bytes = memory.totalBytes(
                EncoderModel.pages(blueprint.spec(), limits, device).pages());
        long there = Devices.memoryBytes(device);
        if (bytes > there) {
            throw new CapacityException("the model needs " + bytes + " bytes for steps of " + limits.maxRows()
                    + " tokens, but there are " + there + ": ask for a shorter context, or smaller steps");
        }
        return new EmbeddingPlan(bytes, checkpoint.tensorBytes(), limits.maxContext(), there);
    }
}
