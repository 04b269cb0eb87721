package roselle.cpu.row;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.operation.Rope;
import roselle.cpu.memory.CpuBuffer;

/** Cosines and sines of one position, kept until another position or rotation is asked for. */
final class Angles {
    private @Nullable Rope rope;
    private int position = -1;
    private float[] cosines = new float[0];
    private float[] sines = new float[0];

    void turnTo(Rope newRope, int newPosition) {
        if (newPosition == position && newRope.equals(rope)) {
            return;
        }
        rope = newRope;
        position = newPosition;
        int pairs = Math.toIntExact(newRope.inverseFrequencies().elements());
        if (cosines.length < pairs) {
            cosines = new float[pairs];
            sines = new float[pairs];
        }
        MemorySegment frequencies = CpuBuffer.of(newRope.inverseFrequencies());
        for (int i = 0; i < pairs; i++) {
            float angle = newPosition * CpuBuffer.number(frequencies, i);
            cosines[i] = (float) Math.cos(angle) * newRope.factor();
            sines[i] = (float) Math.sin(angle) * newRope.factor();
        }
    }

    float cosine(int pair) {
        return cosines[pair];
    }

    float sine(int pair) {
        return sines[pair];
    }
}
