package roselle.execution;

import roselle.backend.LogitChanges;
import roselle.backend.TokenDraws;
import roselle.batch.Batch;
import roselle.batch.Running;
import roselle.batch.SamplingPlan;
import roselle.batch.Sequence;

/** Asks a device for the tokens of a step that it can draw. */
final class DrawRequests {
    private DrawRequests() {}

    /** Whether the device can draw the token of a row, of which it is then asked. */
    static boolean ask(TokenDraws draws, int row, Batch batch, int entry) {
        Running running = batch.running(entry);
        SamplingPlan plan = running.sequence().plan();
        int length = batch.endPosition(entry);
        draws.wanted[row] = running.draftCount() == 0
                && plan.typicalP >= 1
                && change(draws.changes, row, running.sequence(), length);
        draws.temperature[row] = plan.temperature;
        draws.topP[row] = plan.topP;
        draws.minP[row] = plan.minP;
        draws.topK[row] = plan.topK;
        draws.seed[row] = plan.seed;
        draws.position[row] = length;
        draws.topLogprobs[row] = plan.topLogprobs;
        return draws.wanted[row];
    }

    /** Notes what changes the logits of a row; false where there is no room for it. */
    private static boolean change(LogitChanges changes, int row, Sequence sequence, int length) {
        SamplingPlan plan = sequence.plan();
        changes.begin(row);
        if (plan.hasPenalties()) {
            changes.repetition[row] = (float) plan.repetitionPenalty;
            changes.presence[row] = (float) plan.presencePenalty;
            changes.frequency[row] = (float) plan.frequencyPenalty;
            if (length != sequence.length()
                    || !changes.remember(row, sequence.ids(), sequence.promptLength(), length)) {
                return false;
            }
        }
        boolean forbidsStops = length - sequence.promptLength() < plan.minTokens;
        return (plan.biasIds.length == 0 || changes.bias(row, plan.biasIds, plan.biases))
                && (!forbidsStops || changes.forbid(row, plan.stopIds));
    }
}
