package roselle.embedding;

import java.nio.file.Path;
import roselle.api.InvalidRequestException;
import roselle.backend.DeviceOptions;
import roselle.engine.EngineConfig;

/**
 * What an {@link EmbeddingEngine} is opened with; 0 lets it choose.
 *
 * @param model a folder with safetensors and their JSON files, as sentence-transformers writes them
 * @param device where to run it
 * @param context tokens of the longest text; by default as many as the model was made for
 * @param stepTokens tokens of a step, in which many texts lie one behind the other; by default those of the longest text, 512 at least
 * @param stepTexts texts of a step at most
 * @param maxWaiting texts that may wait for a step
 */
public record EmbeddingConfig(
        Path model, DeviceOptions device, int context, int stepTokens, int stepTexts, int maxWaiting) {
    private static final int STEP_TEXTS = 64;
    private static final int MAX_WAITING = 1 << 16;

    public EmbeddingConfig {
        requireAtLeast("context", context, 0);
        requireAtLeast("step tokens", stepTokens, 0);
        requireAtLeast("step texts", stepTexts, 1);
        requireAtLeast("max waiting", maxWaiting, 1);
    }

    private static void requireAtLeast(String what, int value, int least) {
        if (value < least) {
            throw new InvalidRequestException(what + " is " + value + ": it must be at least " + least);
        }
    }

    /** A model with every default. */
    public static EmbeddingConfig of(Path model) {
        return new EmbeddingConfig(model, DeviceOptions.DEFAULT, 0, 0, STEP_TEXTS, MAX_WAITING);
    }

    /** What of the configuration of an engine that generates is an encoder's, too; auto is the CPU, which alone runs encoders. */
    public static EmbeddingConfig of(EngineConfig engine) {
        DeviceOptions asked = engine.device();
        DeviceOptions device = asked.name().equals(DeviceOptions.AUTO)
                ? new DeviceOptions("cpu", asked.threads(), asked.cpu(), asked.compute())
                : asked;
        var batch = engine.batch();
        return new EmbeddingConfig(
                engine.model(), device, batch.context(), batch.stepTokens(), STEP_TEXTS, MAX_WAITING);
    }

    public EmbeddingConfig with(DeviceOptions options) {
        return new EmbeddingConfig(model, options, context, stepTokens, stepTexts, maxWaiting);
    }
}
