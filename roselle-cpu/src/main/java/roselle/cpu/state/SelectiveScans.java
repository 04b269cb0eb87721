package roselle.cpu.state;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.SelectiveScan;
import roselle.backend.step.StepInputs;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.Step;
import roselle.cpu.thread.WorkerPool;

/** The selective scans of a step: each block of channels of each sequence is the work of one thread. */
public final class SelectiveScans implements WorkerPool.Work {
    private final WorkerPool pool;
    private final ChannelScan[] blocks;

    private @Nullable StepInputs inputs;
    private @Nullable Rows x;
    private @Nullable Rows times;
    private @Nullable Rows b;
    private @Nullable Rows c;
    private @Nullable SelectiveScan scan;
    private @Nullable CpuKvCache cache;
    private @Nullable Rows output;

    public SelectiveScans(WorkerPool pool) {
        this.pool = pool;
        blocks = new ChannelScan[pool.threads()];
        for (int thread = 0; thread < blocks.length; thread++) {
            blocks[thread] = new ChannelScan();
        }
    }

    /** Names the rows of the next {@link #run}. */
    public SelectiveScans of(Rows ofChannels, Rows ofTimes, Rows written, Rows asked) {
        x = ofChannels;
        times = ofTimes;
        b = written;
        c = asked;
        return this;
    }

    /** Goes on from the states before the rows of a step, and keeps those behind its pages. */
    public void run(Step step, SelectiveScan how, CpuKvCache pages, Rows target) {
        for (ChannelScan block : blocks) {
            block.reserve(how.stateSize());
        }
        inputs = step.inputs();
        scan = how;
        cache = pages;
        output = target;
        pool.run(this);
    }

    @Override
    public void run(int thread, int threads) {
        int perSequence = (scan().channels() + ChannelScan.BLOCK - 1) / ChannelScan.BLOCK;
        for (int task = thread; task < inputs().sequences * perSequence; task += threads) {
            blocks[thread].run(this, task / perSequence, task % perSequence * ChannelScan.BLOCK);
        }
    }

    StepInputs inputs() {
        return requireNonNull(inputs, "inputs");
    }

    Rows x() {
        return requireNonNull(x, "x");
    }

    Rows times() {
        return requireNonNull(times, "times");
    }

    Rows b() {
        return requireNonNull(b, "b");
    }

    Rows c() {
        return requireNonNull(c, "c");
    }

    SelectiveScan scan() {
        return requireNonNull(scan, "scan");
    }

    CpuKvCache cache() {
        return requireNonNull(cache, "cache");
    }

    Rows output() {
        return requireNonNull(output, "output");
    }
}
