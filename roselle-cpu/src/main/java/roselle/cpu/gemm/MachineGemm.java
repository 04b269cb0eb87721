package roselle.cpu.gemm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Epilogue;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.gemm.GemmKernels;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.machine.row.RowKernels;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.memory.PackedBlock;

/**
 * One thread's part of a product in machine code.
 *
 * <p>A chunk of panels that the second cache holds meets all activation rows, a few at a time, before the next chunk comes:
 * weights are read from memory once, whatever the number of rows.
 */
public final class MachineGemm {
    /** Panels of a chunk at most. */
    private static final int CHUNK_PANELS = 32;

    /** Outputs of a chunk at most. */
    static final int MAX_OUTPUTS = CHUNK_PANELS * Panel.OUTPUTS;

    /** Bytes of weights of a chunk, more or less. */
    private static final long CHUNK_BYTES = 3 << 17;

    private static final int GROUP = 4;
    private static final long OUTPUT_BYTES = (long) GemmKernels.MAX_ROWS * MAX_OUTPUTS * Float.BYTES;

    private final @Nullable AmxGemm amx; // takes the products of bfloat16
    private final Map<Compute, GemmKernels.Call> calls = new EnumMap<>(Compute.class);
    private final MemorySegment outputs; // [MAX_ROWS][CHUNK_PANELS * Panel.OUTPUTS]

    private final RowKernels.@Nullable Call rows;

    public MachineGemm(MachineCode code, Arena arena) {
        rows = code.rows().map(RowKernels::call).orElse(null);
        amx = code.amx().map(kernels -> new AmxGemm(code, kernels, arena)).orElse(null);
        outputs = arena.allocate(code.isThere() ? OUTPUT_BYTES : 0, 64);
        for (Compute compute : Compute.values()) {
            if (code.has(compute)) {
                GemmKernels.Call call = code.kernels(compute).call();
                call.output((long) MAX_OUTPUTS * Float.BYTES);
                calls.put(compute, call);
            }
        }
    }

    /** Adds sums to as many numbers; false where there is no code that does. */
    boolean adds(long sums, long to, int count) {
        if (rows == null || !rows.adds(count)) {
            return false;
        }
        rows.add(sums, to, count);
        return true;
    }

    /**
     * Ends sums of so many outputs, from one on, and brings them to their place; false where there is no code that does.
     *
     * @param sums which it may change
     */
    boolean ends(Epilogue epilogue, long sums, int output, long to, int count) {
        Buffer bias = epilogue.bias();
        boolean isGelu = epilogue.activation() == Activation.GELU;
        boolean isOther = !isGelu && epilogue.activation() != Activation.NONE;
        if (rows == null || !rows.adds(count) || bias == null || isOther || epilogue.scale() != 1f) {
            return false;
        }
        long others = CpuBuffer.of(bias).address() + (long) output * Float.BYTES;
        long ended = epilogue.accumulates() ? sums : to;
        if (isGelu) {
            rows.gelu(sums, others, ended, count);
        } else {
            rows.sum(sums, others, ended, count);
        }
        if (epilogue.accumulates()) {
            rows.add(sums, to, count);
        }
        return true;
    }

    /** Bytes that a thread takes at most for rows of so many columns, padded. */
    static long bytes(MachineCode code, int columns) {
        return OUTPUT_BYTES + (code.amx().isPresent() ? AmxGemm.bytes(columns) : 0);
    }

    /** Bytes that this thread has taken. */
    long bytes() {
        return outputs.byteSize() + (amx == null ? 0 : amx.bytes());
    }

    /** Makes room for a weight's rows. */
    void reserve(CpuWeight weight) {
        if (amx != null && weight.isInTiles()) {
            amx.reserve(weight.paddedColumns());
        }
    }

    /** This thread's arguments for code of a precision. */
    GemmKernels.Call call(Compute compute) {
        return Objects.requireNonNull(calls.get(compute));
    }

    /** Multiplies rows of activations at an address with the weight rows {@code first} until {@code end}. */
    void multiply(long input, long rowBytes, int rows, CpuWeight weight, int first, int end, VectorGemm.Sink sink) {
        GemmKernels.Call call = call(weight.compute());
        AmxGemm tiles = weight.isInTiles() ? amx : null;
        if (tiles != null) {
            tiles.rows(input, rowBytes, rows, weight.paddedColumns());
        }
        int row = first;
        while (row < end) {
            int index = weight.blockIndexOf(row);
            CpuWeight.Block block = weight.blocks()[index];
            PackedBlock packed = weight.packed(index);
            if (tiles == null) {
                call.weights(packed.panel(), packed.type(), packed.columns());
            }
            int limit = Math.min(end, block.firstRow() + block.rows());
            while (row < limit) {
                int inBlock = row - block.firstRow();
                row += tiles == null
                        ? chunk(call, input, rowBytes, rows, packed, inBlock, limit - row, row, sink)
                        : tiles.chunk(packed, inBlock, limit - row, row, sink);
            }
        }
    }

    /** Multiplies with a chunk that begins at a row of a block; how many weight rows that were. */
    private int chunk(
            GemmKernels.Call call,
            long input,
            long rowBytes,
            int rows,
            PackedBlock packed,
            int inBlock,
            int most,
            int weightRow,
            VectorGemm.Sink sink) {
        int skipped = packed.outputOf(inBlock);
        int fitting = (int) Math.max(1, CHUNK_BYTES / packed.panelBytes() / GROUP) * GROUP;
        int panels = packed.panelsFrom(inBlock, most, Math.min(fitting, CHUNK_PANELS));
        int count = packed.rowsIn(panels, inBlock, most);
        long weights = packed.memory().address() + packed.panelAt(inBlock);
        int passes = (rows + GemmKernels.MAX_ROWS - 1) / GemmKernels.MAX_ROWS;
        for (int pass = 0; pass < passes; pass++) {
            int from = rows * pass / passes;
            int to = rows * (pass + 1) / passes;
            call.multiply(input + from * rowBytes, to - from, weights, panels, outputs.address());
            for (int r = from; r < to; r++) {
                long at = ((long) (r - from) * MAX_OUTPUTS + skipped) * Float.BYTES;
                sink.store(r, weightRow, count, outputs, at);
            }
        }
        return count;
    }
}
