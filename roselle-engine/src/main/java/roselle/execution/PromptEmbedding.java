package roselle.execution;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The mean of a prompt's last hidden states, collected chunk by chunk.
 *
 * <p>States are added in the order of their positions, so that the bits do not depend on the chunks.
 */
public final class PromptEmbedding {
    private final float[] sum; // [width]
    private int positions;

    public PromptEmbedding(int width) {
        sum = new float[width];
    }

    /** Adds the state of a position unless it was added before, which a preemption can bring about. */
    void add(int position, MemorySegment states, int row) {
        if (position < positions) {
            return;
        }
        long begin = (long) row * sum.length;
        for (int column = 0; column < sum.length; column++) {
            sum[column] += states.getAtIndex(ValueLayout.JAVA_FLOAT, begin + column);
        }
        positions++;
    }

    /** The mean of what was added, {@code [width]}. */
    public float[] mean() {
        var mean = new float[sum.length];
        for (int column = 0; column < mean.length; column++) {
            mean[column] = sum[column] / positions;
        }
        return mean;
    }
}
