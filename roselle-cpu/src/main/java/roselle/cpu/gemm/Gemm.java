package roselle.cpu.gemm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.Routing;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.gemm.GemmKernels;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.thread.WorkerPool;
import roselle.cpu.vector.Lanes;

/**
 * Gemm of rows with weights on all threads: one matrix, one per head, or one per chosen expert.
 *
 * <p>Each product is two pieces of work: activation rows are packed, padded to whole vectors, into an array that all threads
 * share; then each thread takes a part of the outputs. A few rows are packed by the caller, which saves a meeting.
 */
public final class Gemm {
    /** Rows start in different sets of the caches. */
    private static final int SKEW = 16;

    private static final int ROWS_PACKED_ALONE = 16;

    private final WorkerPool pool;
    private final GemmCall call = new GemmCall();
    private final GemmPart[] parts;
    private final Packing packing = new Packing();
    private final Matrix matrix = new Matrix();
    private final SomeLogits someLogits = new SomeLogits();
    private final Heads heads = new Heads();
    private final Experts experts = new Experts();
    private final Wanted wanted = new Wanted();
    private final MachineCode code;
    private final Activations activations;
    private float[] packed = new float[0]; // [VectorGemm.MAX_ROWS][stride]

    public Gemm(WorkerPool pool, MachineCode code, Arena arena) {
        this.pool = pool;
        this.code = code;
        activations = new Activations(arena, pool.threads());
        parts = new GemmPart[pool.threads()];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = new GemmPart(new MachineGemm(code, arena), call);
        }
    }

    /** Makes room for a weight's input rows. */
    public void reserve(CpuWeight weight) {
        if (weight.isPacked()) {
            activations.reserve(weight, code.kernels(weight.compute()));
            for (GemmPart part : parts) {
                part.machine.reserve(weight);
            }
            return;
        }
        int needed = Math.multiplyExact(VectorGemm.MAX_ROWS, stride(weight.columns()));
        if (packed.length < needed) {
            packed = new float[needed];
        }
    }

    /** Bytes of native memory that rows of so many columns take at most, beside weights. */
    public long mostBytes(int columns) {
        if (!code.isThere()) {
            return 0;
        }
        int padded = Panel.mostPadded(columns);
        long rows = Activations.bytes(padded, code.kernels(Compute.F32), parts.length);
        return rows + parts.length * MachineGemm.bytes(code, padded);
    }

    /** Bytes of native memory that were taken beside weights. */
    public long bytes() {
        long bytes = activations.bytes();
        for (GemmPart part : parts) {
            bytes += part.machine.bytes();
        }
        return bytes;
    }

    private static int stride(int columns) {
        return Lanes.padded(columns) + SKEW;
    }

    /** {@code output[r] = epilogue(weight * input[r])}. */
    public void linear(Rows input, CpuWeight weight, Epilogue epilogue, Rows output, int rows) {
        call.begin(input, weight, epilogue, output);
        for (int first = 0; first < rows; first += VectorGemm.MAX_ROWS) {
            call.pass(first, Math.min(VectorGemm.MAX_ROWS, rows - first));
            pack();
            pool.run(matrix);
        }
    }

    /**
     * {@link #linear} of rows of logits, most of which may not be read.
     *
     * @param masks of each row the logits that are wanted, the others of which may become −∞
     */
    public void logits(Rows input, CpuWeight weight, Epilogue epilogue, Rows output, int rows, long[][] masks) {
        if (!wanted.areFew(masks, rows, weight.rows())) {
            linear(input, weight, epilogue, output, rows);
            return;
        }
        call.begin(input, weight, epilogue, output);
        for (int first = 0; first < rows; first += VectorGemm.MAX_ROWS) {
            call.pass(first, Math.min(VectorGemm.MAX_ROWS, rows - first));
            pack();
            pool.run(someLogits);
        }
    }

    /** Matrix {@code h} on the part of each row that belongs to head {@code h}. */
    public void heads(Rows input, CpuWeight weight, Rows output, int rows) {
        call.begin(input, weight, Epilogue.PLAIN, output);
        int step = Math.max(1, VectorGemm.MAX_ROWS / weight.matrices());
        for (int first = 0; first < rows; first += step) {
            call.pass(first, Math.min(step, rows - first));
            pool.run(heads);
        }
    }

    /** Each choice's expert. */
    public void experts(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        CpuWeight weight = (CpuWeight) linear.experts();
        int choices = rows * routing.chosen();
        experts.order(routing, choices, weight.matrices(), linear.spread());
        call.begin(input, weight, linear.epilogue(), output);
        call.tables(experts.inputRows, experts.choices);
        for (int first = 0; first < choices; first += VectorGemm.MAX_ROWS) {
            call.pass(first, Math.min(VectorGemm.MAX_ROWS, choices - first));
            pack();
            pool.run(experts);
        }
    }

    private void pack() {
        if (call.count() <= ROWS_PACKED_ALONE) {
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
            GemmKernels kernels = code.kernels(weight.compute());
            GemmKernels.Call call = parts[thread].machine.call(weight.compute());
            activations.convert(call, thread, CpuBuffer.of(input), from, weight, kernels, index);
        } else {
            copy(CpuBuffer.of(input), from, weight.columns(), packed, index * stride(weight.columns()));
        }
    }

    /** Multiplies a thread's weight rows with rows that were taken, from {@code index} on. */
    private void multiply(GemmPart part, int index, int rows, CpuWeight weight, int first, int end) {
        if (weight.isPacked()) {
            GemmKernels kernels = code.kernels(weight.compute());
            long rowBytes = kernels.rowBytes(weight.paddedColumns());
            long input = activations.row(index, weight, kernels);
            part.machine.multiply(input, rowBytes, rows, weight, first, end, part);
        } else {
            int stride = stride(weight.columns());
            part.product.multiply(packed, index * stride, stride, rows, weight, first, end, part);
        }
    }

    /** Copies input rows into the shared array. */
    private final class Packing implements WorkerPool.Work {
        @Override
        public void run(int thread, int threads) {
            Rows from = call.input();
            CpuWeight w = call.weight();
            int rows = call.count();
            for (int r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
                take(from, CpuBuffer.row(from, call.inputRow(call.first() + r)), w, r, thread);
            }
        }
    }

    private static void copy(MemorySegment source, long from, int columns, float[] target, int at) {
        MemorySegment.copy(source, JAVA_FLOAT, from * Float.BYTES, target, at, columns);
        Arrays.fill(target, at + columns, at + Lanes.padded(columns), 0f);
    }

    /** One matrix for all rows. */
    private final class Matrix implements WorkerPool.Work {
        @Override
        public void run(int thread, int threads) {
            CpuWeight w = call.weight();
            GemmPart part = parts[thread];
            part.place(call.first(), 0);
            multiply(part, 0, call.count(), w, share(w, thread, threads), share(w, thread + 1, threads));
        }
    }

    /** Some panels of one matrix for each row. */
    private final class SomeLogits implements WorkerPool.Work {
        @Override
        public void run(int thread, int threads) {
            CpuWeight w = call.weight();
            GemmPart part = parts[thread];
            int firstOutput = share(w, thread, threads);
            int endOutput = share(w, thread + 1, threads);
            int first = call.first();
            for (int index = 0; index < call.count(); index++) {
                part.place(first + index, 0);
                part.forbid(firstOutput, endOutput);
                int row = first + index;
                int begin = wanted.next(row, firstOutput, endOutput);
                while (begin < endOutput) {
                    int end = wanted.end(row, begin, endOutput);
                    multiply(part, index, 1, w, begin, end);
                    begin = wanted.next(row, end, endOutput);
                }
            }
        }
    }

    /** A matrix per head; a thread packs its own heads. */
    private final class Heads implements WorkerPool.Work {
        @Override
        public void run(int thread, int threads) {
            CpuWeight w = call.weight();
            Rows from = call.input();
            int outputStep = call.output().columns() / w.matrices();
            int rows = call.count();
            GemmPart part = parts[thread];
            for (int h = w.matrices() * thread / threads; h < w.matrices() * (thread + 1) / threads; h++) {
                for (int r = 0; r < rows; r++) {
                    long column = (long) h * (from.columns() / w.matrices());
                    take(from, CpuBuffer.row(from, call.first() + r) + column, w, h * rows + r, thread);
                }
                part.place(call.first(), h * w.rows() - h * outputStep);
                multiply(part, h * rows, rows, w, h * w.rows(), (h + 1) * w.rows());
            }
        }
    }

    /** The matrices of the chosen experts, each for the rows that chose it. */
    private final class Experts implements WorkerPool.Work {
        private int[] ends = new int[0]; // per expert, the end of its choices in the order of experts
        private int[] choices = new int[0]; // in the order of experts, the choices
        private int[] inputRows = new int[0]; // the same, their input rows

        void order(Routing routing, int total, int matrices, boolean spread) {
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
            CpuWeight w = call.weight();
            int first = call.first();
            GemmPart part = parts[thread];
            int firstOutput = share(w, thread, threads);
            int endOutput = share(w, thread + 1, threads);
            for (int e = 0; e < w.matrices(); e++) {
                int from = Math.max(first, e == 0 ? 0 : ends[e - 1]);
                int end = Math.min(first + call.count(), ends[e]);
                if (from < end) {
                    int base = e * w.rows();
                    part.place(from, base);
                    multiply(part, from - first, end - from, w, base + firstOutput, base + endOutput);
                }
            }
        }
    }
}
