package roselle.cpu.twin;

import roselle.backend.memory.Rows;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.row.TableRows;

/** Rows of a table, chosen by token or by position: the scalar twin of {@link TableRows}. */
public final class ScalarEmbedding {
    private ScalarEmbedding() {}

    /** With room for a row in {@code numbers}: {@code output[r] = scale * table[index[r]]}, or added to what is there. */
    public static void scalar(
            CpuWeight table, int[] index, float scale, boolean accumulates, Rows output, float[] numbers, int rows) {
        var target = CpuBuffer.of(output);
        for (int r = 0; r < rows; r++) {
            table.dequantizeRow(index[r], numbers);
            long at = CpuBuffer.row(output, r);
            for (int i = 0; i < table.columns(); i++) {
                float before = accumulates ? CpuBuffer.number(target, at + i) : 0f;
                CpuBuffer.number(target, at + i, before + scale * numbers[i]);
            }
        }
    }
}
