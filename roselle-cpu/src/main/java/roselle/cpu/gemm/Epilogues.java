package roselle.cpu.gemm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import roselle.backend.memory.Buffer;
import roselle.backend.operation.Epilogue;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.VectorFunctions;

/** What follows a product, on the sums of a few outputs: bias, activation, scale. */
final class Epilogues {
    private Epilogues() {}

    /** Changes {@code count} sums in place, and what follows them up to a whole vector; {@code biasRow} is the first one's place in the bias. */
    static void apply(Epilogue epilogue, float[] sums, int at, int count, int biasRow) {
        Buffer bias = epilogue.bias();
        if (bias != null) {
            MemorySegment numbers = CpuBuffer.of(bias);
            for (int i = 0; i < count; i++) {
                sums[at + i] += numbers.getAtIndex(JAVA_FLOAT, biasRow + i);
            }
        }
        VectorFunctions.apply(epilogue.activation(), sums, at, count);
        if (epilogue.scale() != 1f) {
            for (int i = 0; i < count; i++) {
                sums[at + i] *= epilogue.scale();
            }
        }
    }
}
