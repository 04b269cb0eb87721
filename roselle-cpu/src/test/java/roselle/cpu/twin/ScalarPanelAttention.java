package roselle.cpu.twin;

import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.HeadShape;
import roselle.cpu.attention.AttentionCall;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.amx.AmxTwin;
import roselle.cpu.machine.gemm.PanelGemm;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.memory.Step;
import roselle.cpu.vector.VectorFunctions;

/** The scalar twin of {@code MachineAttention}: one query head of one row, in the precision of the panels. */
public final class ScalarPanelAttention {
    private static final int TILE = AttentionCall.TILE;

    private final Compute compute;
    private final boolean isInTiles;
    private final Step step;
    private final AttentionLayer layer;
    private final CpuKvCache cache;
    private final int row;
    private final int keyHead;
    private final float[] query;
    private final float[] sums;
    private float largest;
    private float denominator;

    private ScalarPanelAttention(
            MachineCode code, Step step, Rows queries, AttentionLayer layer, CpuKvCache cache, int row, int head) {
        compute = code.attention();
        isInTiles = code.multipliesInTiles(compute);
        this.step = step;
        this.layer = layer;
        this.cache = cache;
        this.row = row;
        HeadShape heads = layer.heads();
        keyHead = head * heads.keyHeads() / heads.queryHeads();
        sums = new float[heads.valueSize()];
        long at = CpuBuffer.row(queries, row) + (long) head * heads.keySize();
        var numbers = new float[heads.keySize()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = CpuBuffer.number(CpuBuffer.of(queries), at + i);
        }
        query = rounded(numbers);
        Buffer sinks = layer.sinks();
        largest = sinks == null ? Float.NEGATIVE_INFINITY : CpuBuffer.number(CpuBuffer.of(sinks), head);
        denominator = sinks == null ? 0f : 1f;
    }

    /** Attends with a query head of a row. */
    public static void scalar(
            MachineCode code,
            Step step,
            Rows queries,
            AttentionLayer layer,
            CpuKvCache cache,
            Rows output,
            int row,
            int head) {
        var twin = new ScalarPanelAttention(code, step, queries, layer, cache, row, head);
        int own = step.position(row) + 1;
        int window = cache.groups().get(layer.group()).window();
        int first = window == 0 ? 0 : Math.max(0, own - window);
        int behind = window == 0 ? step.end(row) : Math.min(step.end(row), own - 1 + window);
        int end = layer.bidirectional() ? behind : own;
        for (int tile = first / TILE * TILE; tile < end; tile += TILE) {
            twin.tile(tile, Math.max(tile, first), Math.min(tile + TILE, end));
        }
        for (int d = 0; d < twin.sums.length; d++) {
            long to = CpuBuffer.row(output, row) + (long) head * twin.sums.length + d;
            CpuBuffer.number(CpuBuffer.of(output), to, twin.sums[d] / twin.denominator);
        }
    }

    private void tile(int tile, int from, int to) {
        var scores = new float[TILE];
        float next = largest;
        for (int p = from; p < to; p++) {
            float score = dot(stored(p, true), query);
            scores[p - from] = VectorFunctions.capped(score, layer.scale(), layer.softCap());
            next = Math.max(next, scores[p - from]);
        }
        float shrink = VectorFunctions.exp(largest - next);
        denominator = denominator * shrink + ScalarLanes.softmaxWeights(scores, to - from, next);
        largest = next;
        var weights = new float[TILE];
        System.arraycopy(scores, 0, weights, from - tile, to - from);
        values(tile, from, to, shrink, PanelGemm.activations(weights, TILE, TILE, compute));
    }

    private void values(int tile, int from, int to, float shrink, float[] weights) {
        var columns = new float[sums.length][TILE];
        for (int p = from; p < to; p++) {
            float[] value = stored(p, false);
            for (int d = 0; d < sums.length; d++) {
                columns[d][p - tile] = value[d];
            }
        }
        for (int d = 0; d < sums.length; d++) {
            sums[d] = Math.fma(sums[d], shrink, dot(columns[d], weights));
        }
    }

    private float dot(float[] panel, float[] entry) {
        if (compute == Compute.SPLIT) {
            return AmxTwin.splitDot(panel, entry);
        }
        return isInTiles ? AmxTwin.dot(panel, entry) : PanelGemm.dot(panel, entry, compute);
    }

    /** The key or the value of a position. */
    private float[] stored(int position, boolean isKey) {
        int group = layer.group();
        int page = step.page(group, step.sequence(row), position);
        int token = position % cache.pageTokens();
        var pages = new ScalarKv(cache, group, layer.layer());
        return rounded(
                isKey
                        ? pages.key(page, keyHead, token, layer.heads().keySize())
                        : pages.value(page, keyHead, token, layer.heads().valueSize()));
    }

    private float[] rounded(float[] numbers) {
        return PanelGemm.activations(numbers, numbers.length, numbers.length, compute);
    }
}
