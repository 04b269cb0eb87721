package roselle.cuda.row;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Rope;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.layout.NormArgumentsLayout;
import roselle.cuda.layout.RopeArgumentsLayout;
import roselle.cuda.memory.CudaBuffer;

/** Norms and rotations as parameters of kernels. */
public final class HeadParameters {
    private HeadParameters() {}

    /** How queries and keys become what attention sees: two norms, each with its stride, and the rotation. */
    public static void heads(Launcher launcher, AttentionLayer layer) {
        headNorm(launcher, layer.queryNorm(), layer.heads().keySize());
        headNorm(launcher, layer.keyNorm(), layer.heads().keySize());
        rope(launcher.struct(), layer.rope());
    }

    private static void headNorm(Launcher launcher, @Nullable Norm norm, int size) {
        norm(launcher, norm);
        launcher.integer(norm == null ? 0 : weightStep(norm, size));
    }

    /** Numbers from the weight of one head to that of the next. */
    public static int weightStep(Norm norm, int size) {
        return norm.weight().elements() > size ? size : 0;
    }

    /** A norm; one that changes nothing where there is none. */
    public static void norm(Launcher launcher, @Nullable Norm norm) {
        MemorySegment struct = launcher.struct();
        NormArgumentsLayout.TAKES_MEAN.set(struct, norm != null && norm.kind() == Norm.Kind.LAYER);
        NormArgumentsLayout.WEIGHT.set(struct, norm == null ? 0 : CudaBuffer.address(norm.weight()));
        NormArgumentsLayout.WEIGHT_OFFSET.set(struct, norm == null ? 0 : norm.weightOffset());
        NormArgumentsLayout.BIAS.set(struct, norm == null || norm.bias() == null ? 0 : CudaBuffer.address(norm.bias()));
        NormArgumentsLayout.EPSILON.set(struct, norm == null ? 0 : norm.epsilon());
    }

    private static void rope(MemorySegment struct, @Nullable Rope rope) {
        RopeArgumentsLayout.INVERSE_FREQUENCIES.set(
                struct, rope == null ? 0 : CudaBuffer.address(rope.inverseFrequencies()));
        RopeArgumentsLayout.PAIRS.set(
                struct,
                rope == null ? 0 : Math.toIntExact(rope.inverseFrequencies().elements()));
        RopeArgumentsLayout.FACTOR.set(struct, rope == null ? 1 : rope.factor());
        RopeArgumentsLayout.INTERLEAVED.set(struct, rope != null && rope.interleaved() ? 1 : 0);
    }
}
