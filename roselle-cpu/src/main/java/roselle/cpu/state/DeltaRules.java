package roselle.cpu.state;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.DeltaRule;
import roselle.backend.step.StepInputs;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.Step;
import roselle.cpu.thread.WorkerPool;

/** The delta rule of a step: each key head of each sequence, with its value heads, is the work of one thread. */
public final class DeltaRules implements WorkerPool.Work {
    private final WorkerPool pool;
    private final DeltaHead[] heads;

    private @Nullable StepInputs inputs;
    private @Nullable Rows query;
    private @Nullable Rows key;
    private @Nullable Rows value;
    private @Nullable Rows a;
    private @Nullable Rows b;
    private @Nullable DeltaRule rule;
    private @Nullable CpuKvCache cache;
    private @Nullable Rows output;

    public DeltaRules(WorkerPool pool) {
        this.pool = pool;
        heads = new DeltaHead[pool.threads()];
        for (int thread = 0; thread < heads.length; thread++) {
            heads[thread] = new DeltaHead();
        }
    }

    /** Names the rows of queries, keys and values, of the next {@link #run}. */
    public DeltaRules of(Rows queries, Rows ofKeys, Rows values) {
        query = queries;
        key = ofKeys;
        value = values;
        return this;
    }

    /** Names the rows of {@code a} and {@code b} of the next {@link #run}. */
    public DeltaRules gatedBy(Rows decays, Rows betas) {
        a = decays;
        b = betas;
        return this;
    }

    /** Goes on from the states before the rows of a step, and keeps those behind its pages. */
    public void run(Step step, DeltaRule how, CpuKvCache pages, Rows target) {
        for (DeltaHead head : heads) {
            head.reserve(how.heads(), step.inputs().pageTokens);
        }
        inputs = step.inputs();
        rule = how;
        cache = pages;
        output = target;
        pool.run(this);
    }

    @Override
    public void run(int thread, int threads) {
        int keyHeads = rule().heads().keyHeads();
        for (int task = thread; task < inputs().sequences * keyHeads; task += threads) {
            heads[thread].run(this, task / keyHeads, task % keyHeads);
        }
    }

    StepInputs inputs() {
        return requireNonNull(inputs, "inputs");
    }

    Rows query() {
        return requireNonNull(query, "query");
    }

    Rows key() {
        return requireNonNull(key, "key");
    }

    Rows value() {
        return requireNonNull(value, "value");
    }

    Rows a() {
        return requireNonNull(a, "a");
    }

    Rows b() {
        return requireNonNull(b, "b");
    }

    DeltaRule rule() {
        return requireNonNull(rule, "rule");
    }

    CpuKvCache cache() {
        return requireNonNull(cache, "cache");
    }

    Rows output() {
        return requireNonNull(output, "output");
    }
}
