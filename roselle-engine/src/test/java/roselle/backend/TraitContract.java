package roselle.backend;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.ChosenPositions;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.PositionIndex;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.tensor.DataType;

/** What few families need, and what goes into the comparison of any operation with the reference. */
public abstract class TraitContract extends KvTypesContract {
    static final int COLUMNS = 256; // a super-block
    static final int PAGE = 16;
    static final int[] PROMPTS = {37, 1, 80};
    static final int[] ONES = {1, 1, 1};
    static final StepLimits LIMITS = new StepLimits(160, 3, 160, 96, PAGE);
    static final int PAGES = 3 * LIMITS.maxPages();

    static float[] joined(List<float[]> parts) {
        var all = new float[parts.stream().mapToInt(part -> part.length).sum()];
        int at = 0;
        for (float[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }

    float[] numbers(int count) {
        float[] numbers = random(count);
        for (int i = 0; i < count; i++) {
            numbers[i] = Float.intBitsToFloat(Float.floatToRawIntBits(numbers[i]) & 0xFFFF_0000);
        }
        return numbers;
    }

    Rows some(int rows, int columns) {
        return rows(numbers(rows * columns), columns);
    }

    Rows someGapless(int rows, int columns) {
        return gapless(numbers(rows * columns), columns);
    }

    /** Begins a step of the prompts, or of the row behind each; returns the number of rows. */
    int beginAttention(boolean decodes) {
        int count = PROMPTS.length;
        StepInputs inputs = decodes ? step(LIMITS, 1, PROMPTS, ONES) : step(LIMITS, 1, new int[count], PROMPTS);
        Arrays.setAll(
                inputs.pageTable[0],
                i -> i % inputs.maxPages * count + (i / inputs.maxPages + i % inputs.maxPages) % count);
        begin(inputs);
        return inputs.rows;
    }

    /** Attention to the eight positions that its own queries and keys choose. */
    float[] attendedToChosen() {
        var heads = new HeadShape(4, 1, 64, 64);
        var group = new KvGroup("chosen", 1, 1, heads.keySize(), heads.valueSize(), 0);
        KvCache cache = device.allocateKvCache(List.of(group), KvType.F32, PAGE, new int[] {PAGES});
        var keys = new AttentionLayer(0, 0, heads, null, null, null, 0.05f, 0f, null);
        var chosen = new ChosenPositions(device.allocate(DataType.I32, LIMITS.maxRows() * 8L), 1, 1, 8);
        var traits = new AttentionLayer.Traits(false, null, null, null, chosen);
        var layer = new AttentionLayer(0, 0, heads, null, null, null, 0.05f, 0f, null, false, true, traits);
        int queries = heads.queryHeads() * heads.keySize();
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes);
            Rows all = someGapless(rows, queries + 2 * heads.keySize());
            Rows query = all.columns(0, queries);
            Rows key = all.columns(queries, heads.keySize());
            Rows value = all.columns(queries + heads.keySize(), heads.valueSize());
            operations.ropeAndAppendKv(query, key, value, keys, cache);
            operations.choosePositions(
                    query, some(rows, heads.queryHeads()), new PositionIndex(keys, 0, chosen), cache);
            Rows output = gapless(new float[rows * queries], queries);
            operations.attention(query, layer, cache, output);
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }

    float[] sparsified(int rows) {
        Rows gates = some(rows, COLUMNS);
        operations.sparsify(gates, 0.5f, rows);
        return read(gates, rows);
    }

    float[] mixed(int rows) {
        Rows output = poisoned(rows, COLUMNS);
        operations.mix(some(rows, COLUMNS), some(rows, 16), COLUMNS / 4, output, rows);
        return read(output, rows);
    }

    float[] addedAsLong(int rows) {
        Rows output = some(rows, COLUMNS);
        operations.addAsLongAs(some(rows, COLUMNS), some(rows, COLUMNS), output, rows);
        return read(output, rows);
    }
}
