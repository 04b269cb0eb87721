package roselle.cpu.twin;

import java.util.Arrays;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.cpu.attention.AttentionCall;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.Step;
import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;

/**
 * Attention of rows to the pages of their sequence: an online softmax (Milakov and Gimelshein, 2018) over tiles of the
 * context.
 *
 * <p>Tiles begin at multiples of {@link AttentionCall#TILE} counted from the sequence's first token, whatever the pages and however the
 * row came into the batch: that fixes the order of every sum.
 */
public final class ScalarAttention {
    private static final int TILE = AttentionCall.TILE;

    private ScalarAttention() {}

    /** The query heads {@code firstHead} until {@code endHead} of one row. */
    public static void scalar(
            Step step,
            Rows query,
            AttentionLayer layer,
            CpuKvCache cache,
            Rows output,
            int row,
            int firstHead,
            int endHead) {
        var heads = layer.heads();
        var scores = new float[TILE];
        var sums = new float[heads.valueSize()];
        for (int h = firstHead; h < endHead; h++) {
            float denominator = head(step, query, layer, cache, row, h, scores, sums);
            long to = CpuBuffer.row(output, row) + (long) h * heads.valueSize();
            for (int i = 0; i < sums.length; i++) {
                CpuBuffer.number(CpuBuffer.of(output), to + i, sums[i] / denominator);
            }
        }
    }

    private static float head(
            Step step,
            Rows query,
            AttentionLayer layer,
            CpuKvCache cache,
            int row,
            int h,
            float[] scores,
            float[] sums) {
        int own = step.position(row) + 1;
        int window = cache.groups().get(layer.group()).window();
        int first = window == 0 ? 0 : Math.max(0, own - window);
        int behind = window == 0 ? step.end(row) : Math.min(step.end(row), own - 1 + window);
        int end = layer.bidirectional() ? behind : own;
        float largest = Float.NEGATIVE_INFINITY;
        float denominator = 0;
        if (layer.sinks() != null) {
            largest = CpuBuffer.number(CpuBuffer.of(layer.sinks()), h);
            denominator = 1;
        }
        Arrays.fill(sums, 0f);
        for (int tile = first / TILE * TILE; tile < end; tile += TILE) {
            int from = Math.max(tile, first);
            int to = Math.min(tile + TILE, end);
            float tileLargest = scores(step, query, layer, cache, row, h, from, to, scores);
            float next = Math.max(largest, tileLargest);
            float shrink = VectorFunctions.exp(largest - next);
            for (int i = 0; i < sums.length; i++) {
                sums[i] *= shrink;
            }
            denominator = denominator * shrink + addTile(step, layer, cache, row, h, from, to, next, scores, sums);
            largest = next;
        }
        return denominator;
    }

    /** Fills the scores of the positions {@code from} until {@code to}; returns the largest. */
    private static float scores(
            Step step,
            Rows query,
            AttentionLayer layer,
            CpuKvCache cache,
            int row,
            int h,
            int from,
            int to,
            float[] scores) {
        var heads = layer.heads();
        int keyHead = h * heads.keyHeads() / heads.queryHeads();
        long queryAt = CpuBuffer.row(query, row) + (long) h * heads.keySize();
        var pages = new ScalarKv(cache, layer.group(), layer.layer());
        float largest = Float.NEGATIVE_INFINITY;
        for (int p = from; p < to; p++) {
            int page = step.page(layer.group(), step.sequence(row), p);
            float[] keys = pages.key(page, keyHead, p % cache.pageTokens(), heads.keySize());
            var lanes = new float[Lanes.COUNT];
            for (int i = 0; i < heads.keySize(); i++) {
                int lane = i % Lanes.COUNT;
                lanes[lane] = Math.fma(CpuBuffer.number(CpuBuffer.of(query), queryAt + i), keys[i], lanes[lane]);
            }
            float sum = ScalarLanes.sum(lanes);
            scores[p - from] = VectorFunctions.capped(sum, layer.scale(), layer.softCap());
            largest = Math.max(largest, scores[p - from]);
        }
        return largest;
    }

    /** Adds a tile's values, weighted, and returns the sum of the weights. */
    private static float addTile(
            Step step,
            AttentionLayer layer,
            CpuKvCache cache,
            int row,
            int h,
            int from,
            int to,
            float largest,
            float[] scores,
            float[] sums) {
        var heads = layer.heads();
        int keyHead = h * heads.keyHeads() / heads.queryHeads();
        var pages = new ScalarKv(cache, layer.group(), layer.layer());
        float denominator = ScalarLanes.softmaxWeights(scores, to - from, largest);
        for (int p = from; p < to; p++) {
            float weight = scores[p - from];
            int page = step.page(layer.group(), step.sequence(row), p);
            float[] values = pages.value(page, keyHead, p % cache.pageTokens(), sums.length);
            for (int i = 0; i < sums.length; i++) {
                sums[i] = Math.fma(weight, values[i], sums[i]);
            }
        }
        return denominator;
    }
}
