package roselle.cpu;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import roselle.backend.AttentionLayer;
import roselle.backend.Rows;

/** What one attention works on: set as a whole before the threads start, read by all of them. */
final class AttentionCall {
    private @Nullable Step step;
    private @Nullable Rows query;
    private @Nullable AttentionLayer layer;
    private @Nullable CpuKvCache cache;
    private @Nullable Rows output;

    void begin(Step current, Rows queries, AttentionLayer kind, CpuKvCache pages, Rows to) {
        step = current;
        query = queries;
        layer = kind;
        cache = pages;
        output = to;
    }

    Step step() {
        return requireNonNull(step, "step");
    }

    Rows query() {
        return requireNonNull(query, "query");
    }

    AttentionLayer layer() {
        return requireNonNull(layer, "layer");
    }

    CpuKvCache cache() {
        return requireNonNull(cache, "cache");
    }

    Rows output() {
        return requireNonNull(output, "output");
    }
}
