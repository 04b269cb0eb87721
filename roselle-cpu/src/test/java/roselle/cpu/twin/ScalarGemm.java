package roselle.cpu.twin;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Routing;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.amx.AmxTwin;
import roselle.cpu.machine.gemm.Int8Gemm;
import roselle.cpu.machine.gemm.PanelGemm;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.memory.PackedBlock;
import roselle.cpu.vector.VectorFunctions;

/** Gemm of rows with weights: one matrix, one per head, or one per chosen expert. */
public final class ScalarGemm {
    private ScalarGemm() {}

    /** {@code output[r] = epilogue(weight * input[r])} for the outputs {@code first} until {@code end}. */
    public static void scalar(
            Rows input, CpuWeight weight, Epilogue epilogue, Rows output, int rows, int first, int end) {
        MemorySegment source = CpuBuffer.of(input);
        MemorySegment target = CpuBuffer.of(output);
        var numbers = new float[weight.columns()];
        for (int n = first; n < end; n++) {
            weight.dequantizeRow(n, numbers);
            for (int r = 0; r < rows; r++) {
                float sum = dot(weight, n, numbers, source, CpuBuffer.row(input, r));
                store(target, CpuBuffer.row(output, r) + n, sum, epilogue, n);
            }
        }
    }

    /** Matrix {@code h} on the part of each row that belongs to head {@code h}, for the heads first until end. */
    public static void scalarHeads(Rows input, CpuWeight weight, Rows output, int rows, int first, int end) {
        int inputStep = input.columns() / weight.matrices();
        int outputStep = output.columns() / weight.matrices();
        var numbers = new float[weight.columns()];
        for (int n = first * weight.rows(); n < end * weight.rows(); n++) {
            weight.dequantizeRow(n, numbers);
            int head = n / weight.rows();
            for (int r = 0; r < rows; r++) {
                long from = CpuBuffer.row(input, r) + (long) head * inputStep;
                float sum = dot(weight, n, numbers, CpuBuffer.of(input), from);
                long to = CpuBuffer.row(output, r) + (long) head * outputStep + n % weight.rows();
                CpuBuffer.number(CpuBuffer.of(output), to, sum);
            }
        }
    }

    /** Each choice's expert for the outputs {@code first} until {@code end} of a matrix. */
    public static void scalarExperts(
            Rows input, boolean spread, CpuWeight weight, Epilogue epilogue, Routing routing, Rows output, int rows) {
        var numbers = new float[weight.columns()];
        for (int choice = 0; choice < rows * routing.chosen(); choice++) {
            int expert = CpuBuffer.integer(CpuBuffer.of(routing.experts()), choice);
            long from = CpuBuffer.row(input, spread ? choice : choice / routing.chosen());
            long to = CpuBuffer.row(output, choice);
            for (int n = 0; n < weight.rows(); n++) {
                weight.dequantizeRow(expert * weight.rows() + n, numbers);
                float sum = dot(weight, expert * weight.rows() + n, numbers, CpuBuffer.of(input), from);
                store(CpuBuffer.of(output), to + n, sum, epilogue, expert * weight.rows() + n);
            }
        }
    }

    private static float dot(CpuWeight weight, int row, float[] numbers, MemorySegment source, long from) {
        var x = new float[weight.columns()];
        MemorySegment.copy(source, JAVA_FLOAT, from * Float.BYTES, x, 0, x.length);
        if (!weight.isPacked()) {
            return ScalarLanes.dot(x, 0, numbers, 0, x.length);
        }
        int index = weight.blockIndexOf(row);
        PackedBlock packed = weight.packed(index);
        int inBlock = row - weight.blocks()[index].firstRow();
        long at = packed.panelAt(inBlock);
        int output = packed.outputOf(inBlock);
        Compute compute = weight.compute();
        if (compute == Compute.INT8) {
            float[] all = java.util.Arrays.copyOf(x, weight.paddedColumns());
            return Int8Gemm.dot(packed.panel(), packed.type(), packed.memory(), at, output, all);
        }
        if (compute == Compute.SPLIT) {
            int padded = weight.paddedColumns();
            return AmxTwin.splitDot(java.util.Arrays.copyOf(numbers, padded), java.util.Arrays.copyOf(x, padded));
        }
        float[] rounded = PanelGemm.activations(x, x.length, weight.paddedColumns(), compute);
        if (weight.isInTiles()) {
            int padded = weight.paddedColumns();
            return AmxTwin.dot(
                    AmxTwin.weights(packed.panel(), packed.type(), packed.memory(), at, output, padded), rounded);
        }
        return PanelGemm.dot(packed.panel(), packed.type(), packed.memory(), at, output, rounded, compute);
    }

    /** Ends a product: bias, activation, scale, residual. */
    public static void store(MemorySegment target, long at, float sum, Epilogue epilogue, int biasIndex) {
        float x = sum + bias(epilogue.bias(), biasIndex);
        float y = epilogue.scale() * VectorFunctions.apply(epilogue.activation(), x);
        CpuBuffer.number(target, at, epilogue.accumulates() ? CpuBuffer.number(target, at) + y : y);
    }

    private static float bias(@Nullable Buffer bias, int index) {
        return bias == null ? 0f : CpuBuffer.number(CpuBuffer.of(bias), index);
    }
}
