package roselle.model;

import java.lang.foreign.Arena;
import roselle.backend.Device;
import roselle.backend.step.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.model.spec.DecoderSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.CountingStore;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.UnusedTensors;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/**
 * What the weights of a decoder take, found by loading it without keeping anything: the large matrices are not read.
 *
 * @param weightBytes all tensors that the decoder reads, as stored
 * @param copiedBytes what is copied out of them: matrices that products want in another order or form, and small vectors
 *     as float32
 * @param deviceBytes the part of these copies that the device takes: the rest lies on the host while it is loaded or read
 */
public record LoadPlan(long weightBytes, long copiedBytes, long deviceBytes) {
    private static final StepLimits SMALLEST = new StepLimits(1, 1, 1, 1, 1);

    /**
     * The plan for a checkpoint on a device.
     *
     * @throws roselle.api.CheckpointException where loading it would fail
     */
    public static LoadPlan of(Checkpoint checkpoint, Blueprint blueprint, Device device) {
        DecoderSpec spec = blueprint.spec();
        var unused = UnusedTensors.of(spec);
        long weights = 0;
        for (Tensor tensor : checkpoint.tensors().values()) {
            weights += unused.mayIgnore(tensor.name()) ? 0 : tensor.data().byteSize();
        }
        return copies(weights, checkpoint, blueprint, device);
    }

    /** The plan of a device with memory of its own, where all that it reads is copied to and nothing else lives. */
    public LoadPlan onDevice() {
        return new LoadPlan(0, deviceBytes, deviceBytes);
    }

    private static LoadPlan copies(long weights, Checkpoint checkpoint, Blueprint blueprint, Device device) {
        DecoderSpec spec = blueprint.spec();
        try (Arena arena = Arena.ofConfined()) {
            var store = new CountingStore(device);
            var rearrangement = Rearrangement.counting(arena);
            var space = new Workspace(spec, SMALLEST, store, DataType.F32);
            DecoderWeights.load(checkpoint, blueprint, store, rearrangement, space, spec.context());
            return new LoadPlan(weights, rearrangement.bytes() + store.bytes(), store.bytes());
        }
    }
}
