package roselle.backend.reference;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.PositionIndex;
import roselle.backend.step.StepInputs;

/** The positions that rows of a step attend to, as the formula chooses them. */
final class ReferenceChoice {
    private final StepInputs step;
    private final ReferenceCache pages;

    ReferenceChoice(StepInputs step, ReferenceCache pages) {
        this.step = step;
        this.pages = pages;
    }

    void choose(Rows query, Rows weights, PositionIndex index) {
        if (index.localBlocks() > 0) {
            chooseBlocks(query, index);
            return;
        }
        AttentionLayer keys = index.keys();
        int size = keys.heads().keySize();
        for (int r = 0; r < step.rows; r++) {
            int block = index.chosen().choosesWhole() ? index.chosen().block() : 1;
            int tokens = index.chosen().tokens() * block;
            var scores = new double[(step.positions[r] + 1) / tokens];
            for (int p = 0; p < scores.length; p++) {
                int last = (p + 1) * tokens - 1;
                float[] key = pages.key(keys.group(), keys.layer(), page(keys.group(), sequence(r), last), 0, last);
                for (int h = 0; h < keys.heads().queryHeads(); h++) {
                    float[] asked = ReferenceBuffer.row(query.columns(h * size, size), r);
                    double dot = 0;
                    for (int i = 0; i < size; i++) {
                        dot += (double) asked[i] * key[i];
                    }
                    scores[p] += ReferenceBuffer.row(weights, r)[h] * Math.max(0, keys.scale() * dot);
                }
            }
            int[] best = IntStream.range(0, scores.length)
                    .boxed()
                    .sorted(Comparator.comparingDouble(p -> -(scores[p] + 0.0))) // of equal ones the first stays first
                    .limit(index.chosen().most() / block)
                    .mapToInt(p -> p)
                    .sorted()
                    .flatMap(p -> IntStream.range(p * block, (p + 1) * block))
                    .toArray();
            int behind = block == 1 ? 0 : (step.positions[r] + 1) % block;
            int[] all = IntStream.concat(
                            Arrays.stream(best),
                            IntStream.rangeClosed(step.positions[r] + 1 - behind, step.positions[r]))
                    .toArray();
            float[] target = ReferenceBuffer.of(index.chosen().positions());
            for (int i = 0; i < all.length; i++) {
                target[(int) index.chosen().at(r, 0) + i] = all[i];
            }
        }
    }

    private void chooseBlocks(Rows query, PositionIndex index) {
        AttentionLayer keys = index.keys();
        int size = keys.heads().keySize();
        int block = index.chosen().block();
        for (int r = 0; r < step.rows; r++) {
            int own = step.positions[r];
            for (int h = 0; h < keys.heads().queryHeads(); h++) {
                float[] asked = ReferenceBuffer.row(query.columns(h * size, size), r);
                var best = new double[own / block + 1];
                Arrays.fill(best, Double.NEGATIVE_INFINITY);
                for (int p = 0; p <= own; p++) {
                    float[] key = pages.key(keys.group(), keys.layer(), page(keys.group(), sequence(r), p), 0, p);
                    double dot = 0;
                    for (int i = 0; i < size; i++) {
                        dot += (double) asked[i] * key[i];
                    }
                    boolean isLocal = p / block > own / block - index.localBlocks();
                    best[p / block] = isLocal ? Double.POSITIVE_INFINITY : Math.max(best[p / block], dot);
                }
                int[] positions = IntStream.range(0, best.length)
                        .boxed()
                        .sorted(Comparator.comparingDouble(b -> -best[b]))
                        .limit(index.chosen().most() / block)
                        .sorted()
                        .flatMapToInt(b -> IntStream.range(b * block, Math.min(own + 1, (b + 1) * block)))
                        .toArray();
                float[] target = ReferenceBuffer.of(index.chosen().positions());
                for (int i = 0; i < positions.length; i++) {
                    target[(int) index.chosen().at(r, h) + i] = positions[i];
                }
            }
        }
    }

    private int sequence(int row) {
        int sequence = 0;
        while (step.rowStart[sequence + 1] <= row) {
            sequence++;
        }
        return sequence;
    }

    private int page(int group, int sequence, int position) {
        return step.pageTable[group][sequence * step.maxPages + position / step.pageTokens];
    }
}
