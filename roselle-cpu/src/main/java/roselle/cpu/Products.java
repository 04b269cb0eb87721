package roselle.cpu;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.Epilogue;
import roselle.backend.ExpertLinear;
import roselle.backend.Routing;
import roselle.backend.Rows;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.Panel;
import roselle.cpu.machine.ProductKernels;

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
    private final ProductPart[] parts;
    private final Packing packing = new Packing();
    private final Matrix matrix = new Matrix();
    private final Heads heads = new Heads();
    private final Experts experts = new Experts();
    private final MachineCode code;
    private final Activations activations;
    private float[] packed = new float[0]; // [Product.MAX_ROWS][stride]

    Products(WorkerPool pool, MachineCode code, Arena arena) {
        this.pool = pool;
        this.code = code;
        activations = new Activations(arena, pool.threads());
        parts = new ProductPart[pool.threads()];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = new ProductPart(new MachineProduct(code, arena));
        }
    }

    /** Makes room for a weight's input rows. */
    void reserve(CpuWeight weight) {
        if (weight.isPacked()) {
            activations.reserve(weight, code.kernels(weight.compute()));
            for (ProductPart part : parts) {
                part.machine.reserve(weight);
            }
            return;
        }
        int needed = Math.multiplyExact(Product.MAX_ROWS, stride(weight.columns()));
        if (packed.length < needed) {
            packed = new float[needed];
        }
    }

    /** Bytes of native memory that rows of so many columns take at most, beside weights. */
    long mostBytes(int columns) {
        if (!code.isThere()) {
            return 0;
        }
        int padded = Panel.mostPadded(columns);
        long rows = Activations.bytes(padded, code.kernels(Compute.F32), parts.length);
        return rows + parts.length * MachineProduct.bytes(code, padded);
    }

    /** Bytes of native memory that were taken beside weights. */
    long bytes() {
        long bytes = activations.bytes();
        for (ProductPart part : parts) {
            bytes += part.machine.bytes();
        }
        return bytes;
    }

    private static int stride(int columns) {
        return Lanes.padded(columns) + SKEW;
    }

    /** {@code output[r] = epilogue(weight * input[r])}. */
    void linear(Rows input, CpuWeight weight, Epilogue epilogue, Rows output, int rows) {
        for (int first = 0; first < rows; first += Product.MAX_ROWS) {
            int count = Math.min(Product.MAX_ROWS, rows - first);
            packing.prepare(input, weight, first, null);
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
            packing.prepare(input, experts.weight(), first, experts.inputRows);
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

    /** The output rows of a thread: whole tiles or panels, so that threads do not share one. */
    private static int share(CpuWeight weight, int thread, int threads) {
        int width = weight.isPacked() ? Panel.OUTPUTS : Tile.WIDTH;
        long tiles = (weight.rows() + width - 1L) / width;
        return Math.toIntExact(Math.min(weight.rows(), tiles * thread / threads * width));
    }

    /** Brings a row of the input, some numbers of it, to its place among the rows that threads share. */
    private void take(Rows input, long from, CpuWeight weight, int index, int thread) {
        if (weight.isPacked()) {
            ProductKernels kernels = code.kernels(weight.compute());
            ProductKernels.Call call = parts[thread].machine.call(weight.compute());
            activations.convert(call, thread, CpuBuffer.of(input), from, weight, kernels, index);
        } else {
            copy(CpuBuffer.of(input), from, weight.columns(), packed, index * stride(weight.columns()));
        }
    }

    /** Multiplies a thread's weight rows with rows that were taken, from {@code index} on. */
    private void multiply(ProductPart part, int index, int rows, CpuWeight weight, int first, int end) {
        if (weight.isPacked()) {
            ProductKernels kernels = code.kernels(weight.compute());
            long rowBytes = kernels.rowBytes(weight.paddedColumns());
            long input = activations.row(index, weight, kernels);
            part.machine.multiply(input, rowBytes, rows, weight, first, end, part);
        } else {
            int stride = stride(weight.columns());
            part.product.multiply(packed, index * stride, stride, rows, weight, first, end, part);
        }
    }

    /** Copies input rows, or those that a table names, into the shared array. */
    private final class Packing implements WorkerPool.Work {
        private @Nullable Rows input;
        private @Nullable CpuWeight weight;
        private int first;
        private int rows;
        private int @Nullable [] table;

        void prepare(Rows rowsOfInput, CpuWeight newWeight, int firstRow, int @Nullable [] rowTable) {
            input = rowsOfInput;
            weight = newWeight;
            first = firstRow;
            table = rowTable;
        }

        @Override
        public void run(int thread, int threads) {
            Rows from = input;
            CpuWeight w = weight;
            int[] rowTable = table;
            if (from == null || w == null) {
                return;
            }
            for (int r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
                int row = rowTable == null ? first + r : rowTable[first + r];
                take(from, CpuBuffer.row(from, row), w, r, thread);
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
            for (ProductPart part : parts) {
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
                ProductPart part = parts[thread];
                multiply(part, 0, rows, w, share(w, thread, threads), share(w, thread + 1, threads));
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
            for (ProductPart part : parts) {
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
            ProductPart part = parts[thread];
            for (int h = w.matrices() * thread / threads; h < w.matrices() * (thread + 1) / threads; h++) {
                for (int r = 0; r < rows; r++) {
                    long column = (long) h * (from.columns() / w.matrices());
                    take(from, CpuBuffer.row(from, first + r) + column, w, h * rows + r, thread);
                }
                part.weightRow = h * w.rows() - h * (to.columns() / w.matrices());
                multiply(part, h * rows, rows, w, h * w.rows(), (h + 1) * w.rows());
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
            for (ProductPart part : parts) {
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
            ProductPart part = parts[thread];
            int firstOutput = share(w, thread, threads);
            int endOutput = share(w, thread + 1, threads);
            for (int e = 0; e < w.matrices(); e++) {
                int from = Math.max(first, e == 0 ? 0 : ends[e - 1]);
                int end = Math.min(first + count, ends[e]);
                if (from < end) {
                    int base = e * w.rows();
                    part.firstRow = from;
                    part.weightRow = base;
                    multiply(part, from - first, end - from, w, base + firstOutput, base + endOutput);
                }
            }
        }
    }
}
