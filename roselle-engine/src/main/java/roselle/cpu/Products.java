package roselle.cpu;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.Epilogue;
import roselle.backend.ExpertLinear;
import roselle.backend.Routing;
import roselle.backend.Rows;

/**
 * Products of rows with weights on all threads: one matrix, one per head, or one per chosen expert.
 *
 * <p>Each product is two pieces of work: activation rows are packed, padded to whole vectors, into an array that all threads
 * share; then each thread takes a part of the outputs. A few rows are packed by the caller, which saves a meeting.
 */
final class Products {
    /** Rows start in different sets of the caches. */
    private static final int SKEW = 16;

    private static final int ROWS_PACKED_ALONE = 16;

    private final WorkerPool pool;
    private final Part[] parts;
    private final Packing packing = new Packing();
    private final Matrix matrix = new Matrix();
    private final Heads heads = new Heads();
    private final Experts experts = new Experts();
    private float[] packed = new float[0]; // [Product.MAX_ROWS][stride]

    Products(WorkerPool pool) {
        this.pool = pool;
        parts = new Part[pool.threads()];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = new Part();
        }
    }

    /** Makes room for a weight's input rows. */
    void reserve(CpuWeight weight) {
        int needed = Math.multiplyExact(Product.MAX_ROWS, stride(weight.columns()));
        if (packed.length < needed) {
            packed = new float[needed];
        }
    }

    private static int stride(int columns) {
        return Lanes.padded(columns) + SKEW;
    }

    /** {@code output[r] = epilogue(weight * input[r])}. */
    void linear(Rows input, CpuWeight weight, Epilogue epilogue, Rows output, int rows) {
        for (int first = 0; first < rows; first += Product.MAX_ROWS) {
            int count = Math.min(Product.MAX_ROWS, rows - first);
            packing.prepare(input, weight.columns(), first, null);
            pack(count);
            matrix.prepare(weight, epilogue, output, first, count);
            pool.run(matrix);
        }
    }

    /** Matrix {@code h} on the part of each row that belongs to head {@code h}. */
    void heads(Rows input, CpuWeight weight, Rows output, int rows) {
        int step = Math.max(1, Product.MAX_ROWS / weight.matrices());
        for (int first = 0; first < rows; first += step) {
            heads.prepare(input, weight, output, first, Math.min(step, rows - first));
            pool.run(heads);
        }
    }

    /** Each choice's expert. */
    void experts(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        experts.prepare(linear, routing, output, rows);
        int choices = rows * routing.chosen();
        for (int first = 0; first < choices; first += Product.MAX_ROWS) {
            int count = Math.min(Product.MAX_ROWS, choices - first);
            packing.prepare(input, experts.weight().columns(), first, experts.inputRows);
            pack(count);
            experts.first = first;
            experts.count = count;
            pool.run(experts);
        }
    }

    private void pack(int rows) {
        packing.rows = rows;
        if (rows <= ROWS_PACKED_ALONE) {
            packing.run(0, 1);
        } else {
            pool.run(packing);
        }
    }

    /** The output rows of a thread: whole tiles, so that threads do not share a panel. */
    private static int share(int rows, int thread, int threads) {
        long tiles = (rows + Tile.WIDTH - 1L) / Tile.WIDTH;
        return Math.toIntExact(Math.min(rows, tiles * thread / threads * Tile.WIDTH));
    }

    /** Copies input rows, or those that a table names, into the shared array. */
    private final class Packing implements WorkerPool.Work {
        private @Nullable Rows input;
        private int columns;
        private int first;
        private int rows;
        private int @Nullable [] table;

        void prepare(Rows rowsOfInput, int width, int firstRow, int @Nullable [] rowTable) {
            input = rowsOfInput;
            columns = width;
            first = firstRow;
            table = rowTable;
        }

        @Override
        public void run(int thread, int threads) {
            Rows from = input;
            int[] rowTable = table;
            if (from == null) {
                return;
            }
            int stride = stride(columns);
            MemorySegment source = CpuBuffer.of(from);
            for (int r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
                int row = rowTable == null ? first + r : rowTable[first + r];
                copy(source, CpuBuffer.row(from, row), columns, packed, r * stride);
            }
        }
    }

    private static void copy(MemorySegment source, long from, int columns, float[] target, int at) {
        MemorySegment.copy(source, JAVA_FLOAT, from * Float.BYTES, target, at, columns);
        Arrays.fill(target, at + columns, at + Lanes.padded(columns), 0f);
    }

    /** One matrix for all rows. */
    private final class Matrix implements WorkerPool.Work {
        private @Nullable CpuWeight weight;
        private int rows;

        void prepare(CpuWeight newWeight, Epilogue epilogue, Rows output, int firstRow, int count) {
            weight = newWeight;
            rows = count;
            for (Part part : parts) {
                part.prepare(output, epilogue);
                part.firstRow = firstRow;
                part.weightRow = 0;
                part.rowTable = null;
            }
        }

        @Override
        public void run(int thread, int threads) {
            CpuWeight w = weight;
            if (w != null) {
                Part part = parts[thread];
                int first = share(w.rows(), thread, threads);
                int end = share(w.rows(), thread + 1, threads);
                part.product.multiply(packed, 0, stride(w.columns()), rows, w, first, end, part);
            }
        }
    }

    /** A matrix per head; a thread packs its own heads. */
    private final class Heads implements WorkerPool.Work {
        private @Nullable Rows input;
        private @Nullable Rows output;
        private @Nullable CpuWeight weight;
        private int first;
        private int rows;

        void prepare(Rows from, CpuWeight newWeight, Rows to, int firstRow, int count) {
            input = from;
            weight = newWeight;
            output = to;
            first = firstRow;
            rows = count;
            for (Part part : parts) {
                part.prepare(to, Epilogue.PLAIN);
                part.firstRow = firstRow;
                part.rowTable = null;
            }
        }

        @Override
        public void run(int thread, int threads) {
            CpuWeight w = weight;
            Rows from = input;
            Rows to = output;
            if (w == null || from == null || to == null) {
                return;
            }
            int stride = stride(w.columns());
            Part part = parts[thread];
            for (int h = w.matrices() * thread / threads; h < w.matrices() * (thread + 1) / threads; h++) {
                int at = h * rows * stride;
                for (int r = 0; r < rows; r++) {
                    long column = (long) h * (from.columns() / w.matrices());
                    copy(
                            CpuBuffer.of(from),
                            CpuBuffer.row(from, first + r) + column,
                            w.columns(),
                            packed,
                            at + r * stride);
                }
                part.weightRow = h * w.rows() - h * (to.columns() / w.matrices());
                part.product.multiply(packed, at, stride, rows, w, h * w.rows(), (h + 1) * w.rows(), part);
            }
        }
    }

    /** The matrices of the chosen experts, each for the rows that chose it. */
    private final class Experts implements WorkerPool.Work {
        private @Nullable CpuWeight weight;
        private int[] ends = new int[0]; // per expert, the end of its choices in the order of experts
        private int[] choices = new int[0]; // in the order of experts, the choices
        private int[] inputRows = new int[0]; // the same, their input rows
        private int first;
        private int count;

        void prepare(ExpertLinear linear, Routing routing, Rows output, int rows) {
            CpuWeight newWeight = (CpuWeight) linear.experts();
            weight = newWeight;
            order(routing, rows * routing.chosen(), newWeight.matrices(), linear.spread());
            for (Part part : parts) {
                part.prepare(output, linear.epilogue());
                part.rowTable = choices;
            }
        }

        CpuWeight weight() {
            return java.util.Objects.requireNonNull(weight);
        }

        private void order(Routing routing, int total, int matrices, boolean spread) {
            if (choices.length < total) {
                choices = new int[total];
                inputRows = new int[total];
            }
            if (ends.length < matrices) {
                ends = new int[matrices];
            }
            Arrays.fill(ends, 0);
            MemorySegment chosen = CpuBuffer.of(routing.experts());
            for (int c = 0; c < total; c++) {
                ends[CpuBuffer.integer(chosen, c)]++;
            }
            int sum = 0;
            for (int e = 0; e < matrices; e++) {
                int size = ends[e];
                ends[e] = sum;
                sum += size;
            }
            for (int c = 0; c < total; c++) {
                int at = ends[CpuBuffer.integer(chosen, c)]++;
                choices[at] = c;
                inputRows[at] = spread ? c : c / routing.chosen();
            }
        }

        @Override
        public void run(int thread, int threads) {
            CpuWeight w = weight;
            if (w == null) {
                return;
            }
            int stride = stride(w.columns());
            Part part = parts[thread];
            int firstOutput = share(w.rows(), thread, threads);
            int endOutput = share(w.rows(), thread + 1, threads);
            for (int e = 0; e < w.matrices(); e++) {
                int from = Math.max(first, e == 0 ? 0 : ends[e - 1]);
                int end = Math.min(first + count, ends[e]);
                if (from < end) {
                    int base = e * w.rows();
                    part.firstRow = from;
                    part.weightRow = base;
                    int at = (from - first) * stride;
                    part.product.multiply(
                            packed, at, stride, end - from, w, base + firstOutput, base + endOutput, part);
                }
            }
        }
    }

    /** What a thread owns: its buffers, and the way from sums to the output. */
    private static final class Part implements Product.Sink {
        private final Product product = new Product();
        private final float[] before = new float[Product.CHUNK];
        private @Nullable Rows output;
        private Epilogue epilogue = Epilogue.PLAIN;
        private int firstRow;
        private int weightRow;
        private int @Nullable [] rowTable;

        void prepare(Rows newOutput, Epilogue newEpilogue) {
            output = newOutput;
            epilogue = newEpilogue;
        }

        @Override
        public void store(int row, int fromWeightRow, int count, float[] sums, int at) {
            Rows to = output;
            int[] table = rowTable;
            if (to == null) {
                return;
            }
            int outputRow = table == null ? firstRow + row : table[firstRow + row];
            long bytes = (CpuBuffer.row(to, outputRow) + fromWeightRow - weightRow) * Float.BYTES;
            MemorySegment target = CpuBuffer.of(to);
            Epilogues.apply(epilogue, sums, at, count, fromWeightRow);
            if (epilogue.accumulates()) {
                MemorySegment.copy(target, JAVA_FLOAT, bytes, before, 0, count);
                for (int i = 0; i < count; i++) {
                    sums[at + i] = before[i] + sums[at + i];
                }
            }
            MemorySegment.copy(sums, at, target, JAVA_FLOAT, bytes, count);
        }
    }
}
