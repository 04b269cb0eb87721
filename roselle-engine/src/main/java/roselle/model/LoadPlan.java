package roselle.model;

import java.lang.foreign.Arena;
import roselle.backend.Backend;
import roselle.backend.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/**
 * What the weights of a decoder take, found by loading it without keeping anything: the large matrices are not read.
 *
 * @param weightBytes all tensors that the decoder reads, as stored
 * @param copiedBytes what is copied out of them: matrices that products want in another order or form, and small vectors
 *     as float32
 */
public record LoadPlan(long weightBytes, long copiedBytes) {
    private static final StepLimits SMALLEST = new StepLimits(1, 1, 1, 1, 1);

    /**
     * The plan for a checkpoint on a device.
     *
     * @throws roselle.api.CheckpointException where loading it would fail
     */
    public static LoadPlan of(Checkpoint checkpoint, Blueprint blueprint, Backend backend) {
        DecoderSpec spec = blueprint.spec();
        var unused = new UnusedTensors(spec.layers().size(), spec.output().tied());
        long weights = 0;
        for (Tensor tensor : checkpoint.tensors().values()) {
            weights += unused.mayIgnore(tensor.name()) ? 0 : tensor.data().byteSize();
        }
        return new LoadPlan(weights, copiedBytes(checkpoint, blueprint, backend));
    }

    private static long copiedBytes(Checkpoint checkpoint, Blueprint blueprint, Backend backend) {
        DecoderSpec spec = blueprint.spec();
        try (Arena arena = Arena.ofConfined()) {
            var store = new CountingStore(backend);
            var rearrangement = Rearrangement.counting(arena);
            var space = new Workspace(spec, SMALLEST, store, DataType.F32);
            DecoderWeights.load(checkpoint, blueprint, store, rearrangement, space, spec.context());
            return rearrangement.bytes() + store.bytes();
        }
    }
}
