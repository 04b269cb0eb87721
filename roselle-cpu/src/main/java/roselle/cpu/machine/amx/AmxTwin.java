package roselle.cpu.machine.amx;

import java.lang.foreign.MemorySegment;
import roselle.cpu.machine.gemm.PanelGemm;
import roselle.cpu.machine.panel.BrainFloat;
import roselle.cpu.machine.panel.Panel;
import roselle.tensor.DataType;

/** The scalar twin of {@link AmxPanelCode} and {@link AmxGemmCode}, as Intel's manual defines {@code tdpbf16ps}. */
public final class AmxTwin {
    private AmxTwin() {}

    /** The weights of an output of a panel that begins at {@code at}, as tiles read them. */
    public static float[] weights(
            Panel panel, DataType type, MemorySegment memory, long at, int output, int paddedColumns) {
        var numbers = new float[paddedColumns];
        long scalesAt = at + panel.scalesAt(paddedColumns);
        long minimaAt = at + panel.minimaAt(paddedColumns);
        for (int k = 0; k < paddedColumns; k++) {
            float value = PanelGemm.value(panel, type, memory, at, output, k);
            if (panel.hasScales()) {
                float scale = PanelGemm.scale(panel, memory, scalesAt, output, k);
                if (panel.hasMinima()) {
                    long unitAt = minimaAt + k / panel.unit() * (long) panel.minimumBytes();
                    value = Math.fma(value, scale, 0f - PanelGemm.factor(panel, memory, unitAt, output, k, true));
                } else {
                    value = Math.fma(value, scale, 0f);
                }
                value = BrainFloat.toFloat(BrainFloat.of(value));
            }
            numbers[k] = value;
        }
        return numbers;
    }

    /** The product of weights with a row of {@link PanelGemm#activations}. */
    public static float dot(float[] weights, float[] x) {
        float sum = 0;
        for (int from = 0; from < x.length; from += AmxGemmCode.DEPTH) {
            sum = step(weights, from, x, from, sum);
        }
        return sum;
    }

    /** The product of split numbers with as many others, all of which are given as float32. */
    public static float splitDot(float[] weights, float[] x) {
        return splitDotInTurns(split(weights), split(x));
    }

    /** The same of numbers that are split: 32 rounded ones, then what is left of them, and so on. */
    static float splitDotInTurns(float[] weights, float[] x) {
        float sum = 0;
        for (int from = 0; from < x.length; from += 2 * AmxGemmCode.DEPTH) {
            int rests = from + AmxGemmCode.DEPTH;
            sum = step(weights, rests, x, from, sum);
            sum = step(weights, from, x, from, sum);
            sum = step(weights, from, x, rests, sum);
        }
        return sum;
    }

    /** Numbers of float32 split, 32 rounded ones, then what is left of them, and so on. */
    private static float[] split(float[] numbers) {
        var split = new float[2 * numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            int at = i / AmxGemmCode.DEPTH * 2 * AmxGemmCode.DEPTH + i % AmxGemmCode.DEPTH;
            split[at] = BrainFloat.toFloat(BrainFloat.of(numbers[i]));
            split[at + AmxGemmCode.DEPTH] = BrainFloat.toFloat(BrainFloat.rest(numbers[i]));
        }
        return split;
    }

    /** Adds the product of 32 numbers to a sum: even and odd ones apart. */
    private static float step(float[] weights, int weightsAt, float[] x, int at, float before) {
        float even = 0;
        float odd = 0;
        for (int k = 0; k < AmxGemmCode.DEPTH; k += 2) {
            even = fused(x[at + k], weights[weightsAt + k], even);
            odd = fused(x[at + k + 1], weights[weightsAt + k + 1], odd);
        }
        float both = PanelGemm.flushed(even + odd);
        return PanelGemm.flushed(PanelGemm.flushed(before) + both);
    }

    private static float fused(float x, float weight, float sum) {
        return PanelGemm.flushed(Math.fma(PanelGemm.flushed(x), PanelGemm.flushed(weight), sum));
    }
}
