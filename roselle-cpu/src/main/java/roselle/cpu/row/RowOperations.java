package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.cpu.machine.row.RowKernels;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.memory.Step;
import roselle.cpu.thread.WorkerPool;
import roselle.cpu.vector.VectorFunctions;

/** Operations that treat each row on its own; many rows are split over the threads. */
public final class RowOperations {
    /** Fewer rows are not worth a meeting of the threads. */
    private static final int SPLIT_ROWS = 4;

    private final WorkerPool pool;
    private final Scratch[] scratch;
    private final Split split = new Split();
    private final Gating gating = new Gating();
    private final Roping roping = new Roping();
    private final LatentRoping latentRoping = new LatentRoping();
    private final Norming norming = new Norming();
    private final Choosing choosing = new Choosing();
    private final TurningBack turningBack = new TurningBack();

    /** Operations of so many threads, by the code where there is some. */
    public RowOperations(WorkerPool pool, MachineCode code) {
        this.pool = pool;
        scratch = new Scratch[pool.threads()];
        for (int i = 0; i < scratch.length; i++) {
            scratch[i] = new Scratch(code.rows().map(RowKernels::call).orElse(null));
        }
    }

    /** Makes room for rows of this many numbers. */
    public void reserve(int columns) {
        for (Scratch each : scratch) {
            each.reserve(columns);
        }
    }

    public void gate(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        gating.gate = gate;
        gating.up = up;
        gating.kind = kind;
        gating.output = output;
        run(gating, output.columns(), rows);
    }

    public void norm(Rows input, Norm norm, Rows output, float scale, boolean accumulates, int rows) {
        norming.size = output.columns();
        norming(input, norm, output, scale, accumulates, rows);
    }

    public void normHeads(Rows input, Norm norm, int size, Rows output, int rows) {
        norming.size = size;
        norming(input, norm, output, 1f, false, rows);
    }

    private void norming(Rows input, Norm norm, Rows output, float scale, boolean accumulates, int rows) {
        norming.input = input;
        norming.norm = norm;
        norming.output = output;
        norming.scale = scale;
        norming.accumulates = accumulates;
        run(norming, output.columns(), rows);
    }

    public void ropeAndAppend(Step step, Rows query, Rows key, Rows value, AttentionLayer layer, CpuKvCache cache) {
        roping.step = step;
        roping.query = query;
        roping.key = key;
        roping.value = value;
        roping.layer = layer;
        roping.cache = cache;
        run(roping, layer.heads().keySize(), step.rows());
    }

    public void ropeAndAppendLatent(
            Step step, Rows query, Rows latent, Rows absorbed, AttentionLayer layer, CpuKvCache cache) {
        latentRoping.step = step;
        latentRoping.query = query;
        latentRoping.latent = latent;
        latentRoping.absorbed = absorbed;
        latentRoping.layer = layer;
        latentRoping.cache = cache;
        run(latentRoping, layer.heads().keySize(), step.rows());
    }

    /** Turns heads that were attended back by their positions. */
    public void turnBack(Step step, Rows rows, AttentionLayer layer) {
        turningBack.step = step;
        turningBack.rows = rows;
        turningBack.layer = layer;
        run(turningBack, layer.heads().keySize(), step.rows());
    }

    public void route(Rows logits, Router router, Routing routing, int[] tokens, int rows) {
        choosing.tokens = tokens;
        choosing.logits = logits;
        choosing.router = router;
        choosing.routing = routing;
        run(choosing, logits.columns(), rows);
    }

    /** Runs an operation on rows of so many numbers at most. */
    public void run(RowOperation operation, int columns, int rows) {
        reserve(columns);
        if (rows < SPLIT_ROWS) {
            operation.run(scratch[0], 0, rows);
        } else {
            split.operation = operation;
            split.rows = rows;
            pool.run(split);
        }
    }

    private final class Split implements WorkerPool.Work {
        private @Nullable RowOperation operation;
        private int rows;

        @Override
        public void run(int thread, int threads) {
            requireNonNull(operation, "operation")
                    .run(scratch[thread], rows * thread / threads, rows * (thread + 1) / threads);
        }
    }

    private static final class Gating implements RowOperation {
        private @Nullable Rows gate;
        private @Nullable Rows up;
        private @Nullable Gate kind;
        private @Nullable Rows output;

        @Override
        public void run(Scratch own, int first, int end) {
            Rows gates = requireNonNull(gate, "gate");
            Rows ups = requireNonNull(up, "up");
            Gate how = requireNonNull(kind, "kind");
            Rows to = requireNonNull(output, "output");
            int columns = to.columns();
            RowKernels.Call code = own.code();
            if (code != null && code.takes(how, columns)) {
                run(code, gates, ups, how, to, first, end);
                return;
            }
            for (int r = first; r < end; r++) {
                copy(gates, r, own.x(), columns);
                copy(ups, r, own.y(), columns);
                VectorFunctions.gate(how, own.x(), own.y(), columns);
                store(own.x(), to, r, columns);
            }
        }

        private static void run(RowKernels.Call code, Rows gates, Rows ups, Gate how, Rows to, int first, int end) {
            code.kind(how);
            for (int r = first; r < end; r++) {
                code.gate(address(gates, r), address(ups, r), address(to, r), to.columns());
            }
        }
    }

    private static final class Norming implements RowOperation {
        private @Nullable Rows input;
        private @Nullable Norm norm;
        private @Nullable Rows output;
        private int size; // of what is normalised by itself: a row, or heads of it
        private float scale;
        private boolean accumulates;

        @Override
        public void run(Scratch own, int first, int end) {
            Rows from = requireNonNull(input, "input");
            Norm kind = requireNonNull(norm, "norm");
            Rows to = requireNonNull(output, "output");
            RowKernels.Call code = own.code();
            if (!accumulates && code != null && code.takes(kind, size)) {
                run(code, from, kind, to, first, end);
                return;
            }
            for (int r = first; r < end; r++) {
                for (int column = 0; column < to.columns(); column += size) {
                    copy(from, r, column, own.x(), size);
                    Normalize.vector(own.x(), size, kind, 0, own.lanes());
                    if (accumulates) {
                        copy(to, r, column, own.y(), size);
                        addScaled(own.x(), own.y(), scale, size);
                    }
                    store(own.x(), to, r, column, size);
                }
            }
        }

        private void run(RowKernels.Call code, Rows from, Norm kind, Rows to, int first, int end) {
            for (int r = first; r < end; r++) {
                for (int column = 0; column < to.columns(); column += size) {
                    long bytes = (long) column * Float.BYTES;
                    Normalize.code(code, address(from, r) + bytes, size, kind, address(to, r) + bytes);
                }
            }
        }
    }

    private static final class Roping implements RowOperation {
        private @Nullable Step step;
        private @Nullable Rows query;
        private @Nullable Rows key;
        private @Nullable Rows value;
        private @Nullable AttentionLayer layer;
        private @Nullable CpuKvCache cache;

        @Override
        public void run(Scratch own, int first, int end) {
            RopeAndAppend.rows(
                    requireNonNull(step, "step"),
                    requireNonNull(query, "query"),
                    requireNonNull(key, "key"),
                    requireNonNull(value, "value"),
                    requireNonNull(layer, "layer"),
                    requireNonNull(cache, "cache"),
                    own,
                    first,
                    end);
        }
    }

    private static final class LatentRoping implements RowOperation {
        private @Nullable Step step;
        private @Nullable Rows query;
        private @Nullable Rows latent;
        private @Nullable Rows absorbed;
        private @Nullable AttentionLayer layer;
        private @Nullable CpuKvCache cache;

        @Override
        public void run(Scratch own, int first, int end) {
            RopeAndAppend.latentRows(
                    requireNonNull(step, "step"),
                    requireNonNull(query, "query"),
                    requireNonNull(latent, "latent"),
                    requireNonNull(absorbed, "absorbed"),
                    requireNonNull(layer, "layer"),
                    requireNonNull(cache, "cache"),
                    own,
                    first,
                    end);
        }
    }

    private static final class TurningBack implements RowOperation {
        private @Nullable Step step;
        private @Nullable Rows rows;
        private @Nullable AttentionLayer layer;

        @Override
        public void run(Scratch own, int first, int end) {
            Step now = requireNonNull(step, "step");
            for (int r = first; r < end; r++) {
                RopeAndAppend.turnBack(
                        requireNonNull(rows, "rows"), r, requireNonNull(layer, "layer"), now.position(r), own.angles());
            }
        }
    }

    private static final class Choosing implements RowOperation {
        private int[] tokens = new int[0];
        private @Nullable Rows logits;
        private @Nullable Router router;
        private @Nullable Routing routing;

        @Override
        public void run(Scratch own, int first, int end) {
            own.experts()
                    .rows(
                            requireNonNull(logits, "logits"),
                            requireNonNull(router, "router"),
                            requireNonNull(routing, "routing"),
                            tokens,
                            first,
                            end);
        }
    }

    private static long address(Rows rows, int row) {
        return CpuBuffer.of(rows).address() + CpuBuffer.row(rows, row) * Float.BYTES;
    }

    private static void addScaled(float[] x, float[] before, float scale, int count) {
        for (int i = 0; i < count; i++) {
            x[i] = before[i] + scale * x[i];
        }
    }

    private static void copy(Rows rows, int row, float[] target, int columns) {
        copy(rows, row, 0, target, columns);
    }

    private static void copy(Rows rows, int row, int column, float[] target, int columns) {
        long at = (CpuBuffer.row(rows, row) + column) * Float.BYTES;
        MemorySegment.copy(CpuBuffer.of(rows), JAVA_FLOAT, at, target, 0, columns);
    }

    private static void store(float[] source, Rows rows, int row, int columns) {
        store(source, rows, row, 0, columns);
    }

    private static void store(float[] source, Rows rows, int row, int column, int columns) {
        long at = (CpuBuffer.row(rows, row) + column) * Float.BYTES;
        MemorySegment.copy(source, 0, CpuBuffer.of(rows), JAVA_FLOAT, at, columns);
    }
}
