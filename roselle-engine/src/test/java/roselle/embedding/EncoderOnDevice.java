package roselle.embedding;

import roselle.backend.Device;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;

/** Puts engines of encoders together on devices that a test made, which they own from here on. */
public final class EncoderOnDevice {
    private EncoderOnDevice() {}

    /** Opens an engine on a device. */
    public static EmbeddingEngine open(EmbeddingConfig config, Device device) {
        Checkpoint checkpoint = Checkpoints.open(config.model());
        try {
            var sizes = EncoderSizes.of(config, checkpoint, device);
            return EmbeddingEngine.open(sizes, checkpoint, device, EmbeddingPlan.Observer.NONE);
        } catch (Throwable failure) {
            device.close();
            checkpoint.close();
            throw failure;
        }
    }
}
