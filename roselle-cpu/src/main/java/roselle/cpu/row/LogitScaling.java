package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.thread.WorkerPool;
import roselle.cpu.vector.VectorFunctions;

/**
 * Scales and caps logits in place; a scalar twin holds it to its bits. A vocabulary is long and its rows are
 * few, so the threads share each row.
 */
public final class LogitScaling implements WorkerPool.Work {
    private static final int CHUNK = 4096;

    private final WorkerPool pool;
    private final float[][] numbers; // [threads][CHUNK]
    private @Nullable Rows logits;
    private float scale;
    private float softCap;
    private int rows;

    public LogitScaling(WorkerPool pool) {
        this.pool = pool;
        numbers = new float[pool.threads()][CHUNK];
    }

    /** {@code x = cap(scale * x)}. */
    public void scale(Rows target, float factor, float cap, int count) {
        logits = target;
        scale = factor;
        softCap = cap;
        rows = count;
        pool.run(this);
    }

    @Override
    public void run(int thread, int threads) {
        Rows target = requireNonNull(logits, "logits");
        int chunks = (target.columns() + CHUNK - 1) / CHUNK;
        for (int unit = thread; unit < rows * chunks; unit += threads) {
            int column = unit % chunks * CHUNK;
            int count = Math.min(CHUNK, target.columns() - column);
            chunk(CpuBuffer.of(target), CpuBuffer.row(target, unit / chunks) + column, numbers[thread], count);
        }
    }

    private void chunk(MemorySegment segment, long at, float[] own, int count) {
        MemorySegment.copy(segment, JAVA_FLOAT, at * Float.BYTES, own, 0, count);
        VectorFunctions.cap(own, count, scale, softCap);
        MemorySegment.copy(own, 0, segment, JAVA_FLOAT, at * Float.BYTES, count);
    }
}
