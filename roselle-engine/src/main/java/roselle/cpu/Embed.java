package roselle.cpu;

import roselle.backend.Rows;

/** Rows of a table, chosen by token or by position. */
final class Embed {
    private Embed() {}

    /** {@code output[r] = scale * table[index[r]]}, or added to what is there. */
    static void scalar(
            CpuWeight table, int[] index, float scale, boolean accumulates, Rows output, int first, int end) {
        var target = CpuBuffer.of(output);
        var numbers = new float[table.columns()];
        for (int r = first; r < end; r++) {
            table.dequantizeRow(index[r], numbers);
            long at = CpuBuffer.row(output, r);
            for (int i = 0; i < numbers.length; i++) {
                float before = accumulates ? CpuBuffer.number(target, at + i) : 0f;
                CpuBuffer.number(target, at + i, before + scale * numbers[i]);
            }
        }
    }
}
