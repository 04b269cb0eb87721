package roselle.sampling;

import java.lang.foreign.MemorySegment;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.batch.SamplingPlan;

/** Samples one row after the other as plans say. */
final class OneRow {
    private final SamplingRows rows = new SamplingRows(1, 0);
    private final SampledTokens tokens = new SampledTokens(1);
    private final Sampler sampler;

    /** The tokens {@code ids[0 .. length)} before the one to be sampled. */
    static final class History {
        private final int[] ids;
        private final int promptLength;
        private final int length;

        History(int[] ids, int promptLength, int length) {
            this.ids = ids;
            this.promptLength = promptLength;
            this.length = length;
        }

        static History ofPrompt(int length) {
            return new History(new int[length], length, length);
        }
    }

    OneRow(Sampler sampler) {
        this.sampler = sampler;
    }

    static long[] mask(int vocabulary, int... allowed) {
        var mask = new long[(vocabulary + 63) / 64];
        for (int id : allowed) {
            mask[id / 64] |= 1L << id % 64;
        }
        return mask;
    }

    /** What the last token was drawn from. */
    Candidates candidates() {
        return sampler.candidates(rows, 0);
    }

    int sample(MemorySegment logits, long at, SamplingPlan plan, History history) {
        return sample(logits, at, plan, history, SamplingRows.ALL);
    }

    int sample(MemorySegment logits, long at, SamplingPlan plan, History history, long[] mask) {
        rows.begin(1);
        plan.fill(rows, 0, history.ids, history.promptLength, history.length);
        rows.mask[0] = mask;
        return sampler.sample(logits, at, rows, 0, tokens);
    }
}
