package roselle.embedding;

import java.nio.file.Path;
import roselle.api.InvalidRequestException;
import roselle.backend.DeviceOptions;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;

/**
 * What an {@link EmbeddingEngine} is opened with; 0 lets it choose.
 *
 * @param model a folder with safetensors and their JSON files, as sentence-transformers writes them, or a {@code .gguf}
 * @param device where to run it
 * @param context tokens of the longest text; by default as many as the model was made for
 * @param stepTokens tokens of a step, in which many texts lie one behind the other; by default those of the longest text, 512 at least,
 *     or 16,384 at least on a device with memory of its own
 * @param stepTexts texts of a step at most; by default 64, or 512 on a device with memory of its own
 * @param maxWaiting texts that may wait for a step
 * @param deviceMemory bytes that may be taken of a device's own memory in all; by default nearly all that is free
 */
public record EmbeddingConfig(
        Path model,
        DeviceOptions device,
        int context,
        int stepTokens,
        int stepTexts,
        int maxWaiting,
        long deviceMemory) {
    private static final int MAX_WAITING = 1 << 16;

    public EmbeddingConfig {
        requireAtLeast("context", context, 0);
        requireAtLeast("step tokens", stepTokens, 0);
        requireAtLeast("step texts", stepTexts, 0);
        requireAtLeast("max waiting", maxWaiting, 1);
        requireAtLeast("device memory", deviceMemory, 0);
    }

    /** Of a device that is nobody else's. */
    public EmbeddingConfig(
            Path model, DeviceOptions device, int context, int stepTokens, int stepTexts, int maxWaiting) {
        this(model, device, context, stepTokens, stepTexts, maxWaiting, 0);
    }

    private static void requireAtLeast(String what, long value, int least) {
        if (value < least) {
            throw new InvalidRequestException(what + " is " + value + ": it must be at least " + least);
        }
    }

    /** A model with every default. */
    public static EmbeddingConfig of(Path model) {
        return new EmbeddingConfig(model, DeviceOptions.DEFAULT, 0, 0, 0, MAX_WAITING);
    }

    /** What of the configuration of an engine that generates is an encoder's, too; its unasked tokens of a step are chosen anew. */
    public static EmbeddingConfig of(EngineConfig engine) {
        var batch = engine.batch();
        int stepTokens = batch.stepTokens() == BatchOptions.DEFAULT.stepTokens() ? 0 : batch.stepTokens();
        return new EmbeddingConfig(
                engine.model(), engine.device(), batch.context(), stepTokens, 0, MAX_WAITING, engine.deviceMemory());
    }

    /** With so many tokens of a step; 0 for the default. */
    public EmbeddingConfig withStepTokens(int tokens) {
        return new EmbeddingConfig(model, device, context, tokens, stepTexts, maxWaiting, deviceMemory);
    }

    public EmbeddingConfig with(DeviceOptions options) {
        return new EmbeddingConfig(model, options, context, stepTokens, stepTexts, maxWaiting, deviceMemory);
    }
}
