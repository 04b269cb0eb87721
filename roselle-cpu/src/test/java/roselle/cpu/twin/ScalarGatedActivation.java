package roselle.cpu.twin;

import roselle.backend.memory.Rows;
import roselle.backend.operation.Gate;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.VectorFunctions;

/** One half of a feed-forward product gates the other. */
public final class ScalarGatedActivation {
    private ScalarGatedActivation() {}

    public static void scalar(Rows gate, Rows up, Gate kind, Rows output, int first, int end) {
        for (int r = first; r < end; r++) {
            long gateAt = CpuBuffer.row(gate, r);
            long upAt = CpuBuffer.row(up, r);
            long to = CpuBuffer.row(output, r);
            for (int i = 0; i < output.columns(); i++) {
                float g = CpuBuffer.number(CpuBuffer.of(gate), gateAt + i);
                float u = CpuBuffer.number(CpuBuffer.of(up), upAt + i);
                CpuBuffer.number(CpuBuffer.of(output), to + i, one(g, u, kind));
            }
        }
    }

    private static float one(float gate, float up, Gate kind) {
        float bounded = Math.min(gate, kind.limit());
        float other = Math.max(-kind.upLimit(), Math.min(up, kind.upLimit())) + kind.upOffset();
        return VectorFunctions.apply(kind.activation(), bounded) * other;
    }
}
