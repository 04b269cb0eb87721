package roselle.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.AttentionLayer;
import roselle.backend.Norm;
import roselle.backend.Rope;

/** Parameters that are structs of {@code norms.cuh} and {@code heads.cuh}. */
final class HeadParameters {
    private HeadParameters() {}

    /** How queries and keys become what attention sees: two norms, each with its stride, and the rotation. */
    static void heads(Launcher launcher, AttentionLayer layer) {
        headNorm(launcher, layer.queryNorm(), layer.heads().keySize());
        headNorm(launcher, layer.keyNorm(), layer.heads().keySize());
        rope(launcher.struct(), layer.rope());
    }

    private static void headNorm(Launcher launcher, @Nullable Norm norm, int size) {
        norm(launcher, norm);
        launcher.integer(norm == null ? 0 : weightStep(norm, size));
    }

    /** Numbers from the weight of one head to that of the next. */
    static int weightStep(Norm norm, int size) {
        return norm.weight().elements() > size ? size : 0;
    }

    /** {@code struct NormArguments}. */
    static void norm(Launcher launcher, @Nullable Norm norm) {
        MemorySegment struct = launcher.struct();
        struct.set(JAVA_LONG, 0, norm != null && norm.kind() == Norm.Kind.LAYER ? 1 : 0);
        struct.set(JAVA_LONG, 8, norm == null ? 0 : CudaBuffer.address(norm.weight()));
        struct.set(JAVA_FLOAT, 16, norm == null ? 0 : norm.weightOffset());
        struct.set(JAVA_LONG, 24, norm == null || norm.bias() == null ? 0 : CudaBuffer.address(norm.bias()));
        struct.set(JAVA_FLOAT, 32, norm == null ? 0 : norm.epsilon());
    }

    private static void rope(MemorySegment struct, @Nullable Rope rope) { // struct RopeArguments
        struct.set(JAVA_LONG, 0, rope == null ? 0 : CudaBuffer.address(rope.inverseFrequencies()));
        struct.set(
                JAVA_INT,
                8,
                rope == null ? 0 : Math.toIntExact(rope.inverseFrequencies().elements()));
        struct.set(JAVA_FLOAT, 12, rope == null ? 1 : rope.factor());
        struct.set(JAVA_INT, 16, rope != null && rope.interleaved() ? 1 : 0);
    }
}
