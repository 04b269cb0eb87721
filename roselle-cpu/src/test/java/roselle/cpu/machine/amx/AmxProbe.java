package roselle.cpu.machine.amx;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.function.IntFunction;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.ExecutableMemory;
import roselle.cpu.machine.OwnedMemory;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.SystemCalls;
import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Tile;
import roselle.cpu.machine.gemm.GemmKernels;
import roselle.cpu.machine.panel.Panel;
import roselle.tensor.DataType;

/**
 * Measures what AMX tiles, memory and the kernels around them give on this machine, one thread and two; it prints a line for
 * each. For maintainers, on processors that have tiles; the last part runs on each that has AVX512_BF16.
 */
public final class AmxProbe {
    private static final int ROWS = 512;
    private static final int COLUMNS = 2048;
    private static final int OUTPUTS = 4096;
    private static final long STREAMED = 192L << 20;

    private final Arena arena = Arena.ofShared();
    private final boolean hasTiles;
    private final AmxKernels kernels = AmxKernels.open().orElseThrow();
    private final GemmKernels vectors = GemmKernels.open(Compute.BF16).orElseThrow();
    private final OwnedMemory memory = new OwnedMemory();
    private final List<MemorySegment> streams = new ArrayList<>();

    private AmxProbe(boolean hasTiles) {
        this.hasTiles = hasTiles;
    }

    /** One piece of work, again and again. */
    private interface Work {
        void once();
    }

    public static void main(String[] arguments) throws Exception {
        boolean hasTiles = Processor.probe().features().contains(Processor.Feature.AMX);
        var probe = new AmxProbe(hasTiles);
        for (int threads = 1; threads <= 2; threads++) {
            System.out.println("threads " + threads);
            probe.tilesAlone(threads);
            if (arguments.length == 0) {
                probe.run(threads);
            }
        }
    }

    /** Whether two threads have twice the products of one tells whether two processors are one core. */
    private void tilesAlone(int threads) throws Exception {
        if (hasTiles) {
            rate("tdpbf16ps alone, TFLOP/s", threads, 2.0 * 16 * 16 * 32 * 4 * 50_000 / 1e12, this::productsAlone);
        }
    }

    private void run(int threads) throws Exception {
        if (hasTiles) {
            for (int depth = 256; depth <= 2048; depth *= 2) {
                int columns = depth;
                rate(
                        "32 rows, 8 panels, k " + depth + ", TFLOP/s",
                        threads,
                        2.0 * 32 * 128 * depth * 20 / 1e12,
                        t -> small(columns));
            }
            for (int[] size : new int[][] {
                {8, 2048}, {8, 1024}, {8, 512}, {16, 1024}, {16, 512}, {16, 256}, {32, 512}, {32, 256}, {32, 128}
            }) {
                for (DataType type : new DataType[] {DataType.Q8_0, DataType.BF16}) {
                    rate(
                            type.label() + ", 512 rows, " + size[0] + " panels, k " + size[1] + " at a time, TFLOP/s",
                            threads,
                            2.0 * ROWS * COLUMNS * OUTPUTS / 1e12,
                            t -> product(type, size[0], size[1]));
                }
            }
            checkBytes();
            rate("bytes (tdpbssd), 512 rows, TFLOP/s", threads, 2.0 * ROWS * COLUMNS * OUTPUTS / 1e12, t -> bytes());
        }
        rate("memory read, GB/s", threads, STREAMED / 1e9, this::read);
        for (DataType type : Panel.typesWithScales()) {
            for (int rows = 1; rows <= 4; rows++) {
                int count = rows;
                Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
                long panels = STREAMED / panel.bytes(COLUMNS);
                double numbers = (double) panels * Panel.OUTPUTS * COLUMNS / 1e9;
                String what = type.label() + ", " + rows + " rows, ";
                rate(what + "as tiles, in registers, numbers/ns", threads, numbers, t -> few(t, type, count, panels));
                rate(what + "AVX512_BF16, numbers/ns", threads, numbers, t -> inVectors(t, type, count, panels));
            }
        }
    }

    private void rate(String what, int threads, double amount, IntFunction<Work> maker) throws Exception {
        var barrier = new CyclicBarrier(threads);
        var nanos = new long[threads];
        var all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            int thread = t;
            Work work = maker.apply(t);
            all[t] = new Thread(() -> nanos[thread] = measure(work, barrier));
            all[t].start();
        }
        double rate = 0;
        for (int t = 0; t < threads; t++) {
            all[t].join();
            rate += amount / nanos[t] * 1e9;
        }
        System.out.printf("%-70s %8.2f%n", what, rate);
    }

    /** The best time of a few, all threads beginning together. */
    private static long measure(Work work, CyclicBarrier barrier) {
        long best = Long.MAX_VALUE;
        work.once();
        for (int i = 0; i < 5; i++) {
            try {
                barrier.await();
            } catch (Exception failure) {
                throw new IllegalStateException(failure);
            }
            long from = System.nanoTime();
            work.once();
            best = Math.min(best, System.nanoTime() - from);
        }
        return best;
    }

    private MemorySegment code(Assembler code) {
        return ExecutableMemory.of(List.of(code.bytes()))
                .orElseThrow()
                .routines()
                .getFirst();
    }

    private Work productsAlone(int thread) {
        var code = new Assembler();
        code.emit(Opcode.LDTILECFG, Operand.at(General.RDI, 0));
        for (int tile = 0; tile < 8; tile++) {
            code.emit(Opcode.TILEZERO, new Tile(tile));
        }
        code.set(General.RAX, 50_000);
        Assembler.Label next = code.here();
        for (int tile = 0; tile < 4; tile++) {
            code.emit(Opcode.TDPBF16PS, new Tile(tile), new Tile(4 + tile / 2), new Tile(6 + tile % 2));
        }
        code.add(General.RAX, -1);
        code.jumpIfNotZero(next);
        code.emit(Opcode.TILERELEASE);
        code.ret();
        MemorySegment routine = code(code);
        MemorySegment configuration = arena.allocate(64, 64);
        MemorySegment.copy(AmxGemmCode.configuration(32, false), 0, configuration, JAVA_BYTE, 0, 64);
        return () -> SystemCalls.call(routine, configuration.address());
    }

    private Work small(int columns) {
        MemorySegment x = arena.allocate(32L * columns * 2, 64);
        MemorySegment w = arena.allocate(8L * columns * AmxKernels.BYTES_PER_COLUMN, 64);
        MemorySegment out = arena.allocate(32L * 128 * 4, 64);
        AmxKernels.Call call = kernels.call();
        call.distances(columns * 2L, 512, (long) columns * AmxKernels.BYTES_PER_COLUMN);
        call.depth(columns, false);
        return () -> {
            for (int i = 0; i < 20; i++) {
                call.multiply(x.address(), 32, w.address(), 8, out.address());
            }
        };
    }

    /** A prompt's product as {@code AmxGemm} has it, with other sizes. */
    private Work product(DataType type, int panels, int depth) {
        Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
        long panelBytes = panel.bytes(COLUMNS);
        MemorySegment weights = memory.allocate(OUTPUTS / 16 * panelBytes);
        long rowBytes = COLUMNS * 2L + 64;
        MemorySegment x = arena.allocate(ROWS * rowBytes, 64);
        MemorySegment unpacked = arena.allocate((long) panels * depth * AmxKernels.BYTES_PER_COLUMN, 64);
        long outputBytes = panels * 64L;
        MemorySegment out = arena.allocate(ROWS * outputBytes, 64);
        AmxKernels.Call call = kernels.call();
        call.weights(panel, type, COLUMNS);
        return () -> {
            for (int p = 0; p < OUTPUTS / 16; p += panels) {
                long from = weights.address() + p * panelBytes;
                for (int k = 0; k < COLUMNS; k += depth) {
                    long piece = from + (long) k * AmxKernels.BYTES_PER_COLUMN;
                    long distance = panelBytes;
                    if (call.isUnpacked()) {
                        call.unpack(from, panels, k, k + depth, unpacked.address());
                        piece = unpacked.address();
                        distance = (long) depth * AmxKernels.BYTES_PER_COLUMN;
                    }
                    call.distances(rowBytes, outputBytes, distance);
                    call.depth(depth, k > 0);
                    for (int r = 0; r < ROWS; r += 32) {
                        long input = x.address() + r * rowBytes + k * 2L;
                        call.multiply(input, 32, piece, panels, out.address() + r * outputBytes);
                    }
                }
            }
        };
    }

    /** Operands of the product of bytes, and its call. */
    private final class Bytes {
        private final int rows;
        private final int outputs;
        private final long panelBytes = COLUMNS / 32 * (512L + 32);
        private final MemorySegment w;
        private final MemorySegment x;
        private final MemorySegment scales;
        private final MemorySegment out;
        private final MemorySegment routine;
        private final MemorySegment arguments = arena.allocate(AmxInt8Code.SIZE, 64);

        Bytes(int rows, int outputs) {
            this.rows = rows;
            this.outputs = outputs;
            w = memory.allocate(outputs / 16 * panelBytes);
            x = arena.allocate((long) rows * COLUMNS, 64);
            scales = arena.allocate((long) rows * COLUMNS / 32 * Float.BYTES, 64);
            out = arena.allocate((long) rows * 8 * 64, 64);
            routine = ExecutableMemory.of(List.of(AmxInt8Code.routine()))
                    .orElseThrow()
                    .routines()
                    .getFirst();
            MemorySegment configuration = arena.allocate(64, 64);
            MemorySegment.copy(AmxInt8Code.configuration(), 0, configuration, JAVA_BYTE, 0, 64);
            set(AmxInt8Code.PANEL_BYTES, panelBytes);
            set(AmxInt8Code.SCALES_AT, COLUMNS / 32 * 512L);
            set(AmxInt8Code.STRIDE, COLUMNS);
            set(AmxInt8Code.OUTPUT_STRIDE, 512);
            set(AmxInt8Code.STEPS, COLUMNS / 32 / AmxInt8Code.UNROLLED);
            set(AmxInt8Code.CONFIGURATION, configuration.address());
            set(AmxInt8Code.SCRATCH, arena.allocate(4096, 64).address());
        }

        private void set(int offset, long value) {
            arguments.set(JAVA_LONG, offset, value);
        }

        void once() {
            for (int p = 0; p < outputs / 16; p += 8) {
                for (int r = 0; r < rows; r += 16) {
                    set(AmxInt8Code.WEIGHTS, w.address() + p * panelBytes);
                    set(AmxInt8Code.INPUT, x.address() + (long) r * COLUMNS);
                    set(AmxInt8Code.INPUT_SCALES, scales.address() + (long) r * COLUMNS / 32 * Float.BYTES);
                    set(AmxInt8Code.OUTPUT, out.address() + r * 512L);
                    set(AmxInt8Code.PANELS, Math.min(8, outputs / 16 - p));
                    SystemCalls.call(routine, arguments.address());
                }
            }
        }
    }

    private Work bytes() {
        var operands = new Bytes(ROWS, OUTPUTS);
        return operands::once;
    }

    /** The product of bytes against plain Java. */
    private void checkBytes() {
        var random = new Random(8);
        var product = new Bytes(16, 32);
        for (long i = 0; i < product.w.byteSize(); i++) {
            product.w.set(JAVA_BYTE, i, (byte) random.nextInt(-127, 128));
        }
        for (int p = 0; p < 2; p++) {
            for (long i = COLUMNS / 32 * 512L; i < product.panelBytes; i += 2) {
                short scale = Float.floatToFloat16(random.nextFloat());
                product.w.set(JAVA_SHORT, p * product.panelBytes + i, scale);
            }
        }
        for (long i = 0; i < product.x.byteSize(); i++) {
            product.x.set(JAVA_BYTE, i, (byte) random.nextInt(-127, 128));
        }
        for (long i = 0; i < product.scales.byteSize(); i += 4) {
            product.scales.set(JAVA_FLOAT, i, random.nextFloat());
        }
        product.once();
        int wrong = 0;
        for (int r = 0; r < 16; r++) {
            for (int n = 0; n < 32; n++) {
                float want = twin(product, r, n);
                float got = product.out.get(JAVA_FLOAT, r * 512L + n * 4L);
                wrong += Float.floatToIntBits(want) == Float.floatToIntBits(got) ? 0 : 1;
            }
        }
        System.out.println("bytes: " + wrong + " of 512 outputs differ from the twin");
    }

    private static float twin(Bytes product, int r, int n) {
        float sum = 0;
        long panel = n / 16 * product.panelBytes;
        for (int b = 0; b < COLUMNS / 32; b++) {
            int dot = 0;
            for (int k = 0; k < 32; k++) {
                long at = panel + b * 512L + k / 4 * 64L + n % 16 * 4L + k % 4;
                dot += product.w.get(JAVA_BYTE, at) * product.x.get(JAVA_BYTE, (long) r * COLUMNS + b * 32L + k);
            }
            long scaleAt = panel + COLUMNS / 32 * 512L + b * 32L + n % 16 * 2L;
            float scale = Float.float16ToFloat(product.w.get(JAVA_SHORT, scaleAt));
            float rowScale = product.scales.get(JAVA_FLOAT, (b * 16L + r) * 4);
            sum = Math.fma(dot * rowScale, scale, sum);
        }
        return sum;
    }

    private Work read(int thread) {
        var code = new Assembler();
        code.load(General.RSI, Operand.at(General.RDI, 0));
        code.load(General.RAX, Operand.at(General.RDI, 8));
        Assembler.Label next = code.here();
        for (int i = 0; i < 16; i++) {
            code.emit(Opcode.VPORD, Operand.zmm(i % 8), Operand.zmm(i % 8), Operand.at(General.RSI, i * 64));
        }
        code.add(General.RSI, 1024);
        code.add(General.RAX, -1);
        code.jumpIfNotZero(next);
        code.ret();
        MemorySegment routine = code(code);
        MemorySegment arguments = arena.allocate(16, 64);
        MemorySegment source = streamed(thread);
        return () -> {
            for (long at = 0; at < STREAMED; at += 1 << 20) { // calls are short
                arguments.set(JAVA_LONG, 0, source.address() + at);
                arguments.set(JAVA_LONG, 8, 1024);
                SystemCalls.call(routine, arguments.address());
            }
        };
    }

    /** A thread's memory, larger than the caches. */
    private MemorySegment streamed(int thread) {
        while (streams.size() <= thread) {
            MemorySegment stream = memory.allocate(STREAMED);
            stream.fill((byte) 0x11);
            streams.add(stream);
        }
        return streams.get(thread);
    }

    private Work few(int thread, DataType type, int rows, long panels) {
        Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
        MemorySegment weights = streamed(thread);
        MemorySegment x = arena.allocate((long) rows * COLUMNS * 4, 64);
        MemorySegment out = arena.allocate(rows * 512L, 64);
        AmxKernels.Call call = kernels.call();
        call.weights(panel, type, COLUMNS);
        return () -> {
            for (long p = 0; p + 8 <= panels; p += 8) {
                long from = weights.address() + p * panel.bytes(COLUMNS);
                call.multiplyFew(x.address(), COLUMNS * 4L, rows, from, 8, out.address(), 512);
            }
        };
    }

    private Work inVectors(int thread, DataType type, int rows, long panels) {
        Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
        MemorySegment weights = streamed(thread);
        MemorySegment x = arena.allocate((long) rows * vectors.rowBytes(COLUMNS), 64);
        MemorySegment out = arena.allocate(rows * 512L, 64);
        GemmKernels.Call call = vectors.call();
        call.weights(panel, type, COLUMNS);
        call.output(512);
        return () -> {
            for (long p = 0; p + 8 <= panels; p += 8) {
                call.multiply(x.address(), rows, weights.address() + p * panel.bytes(COLUMNS), 8, out.address());
            }
        };
    }
}
