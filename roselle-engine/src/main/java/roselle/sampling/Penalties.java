package roselle.sampling;

import roselle.batch.SamplingPlan;

/**
 * Changes logits by what was said before: repetition over prompt and answer (Keskar et al., CTRL), then frequency and
 * presence over the answer alone, as vLLM and OpenAI define them.
 */
final class Penalties {
    private final int[] lastSeen; // [vocabulary] the round in which a token was last met
    private final int[] counts; // [vocabulary] all 0 between rounds
    private int round;

    Penalties(int vocabulary) {
        lastSeen = new int[vocabulary];
        counts = new int[vocabulary];
    }

    void apply(float[] logits, SamplingPlan plan, TokenHistory history) {
        if (plan.repetitionPenalty != 1) {
            punishRepetition(logits, (float) plan.repetitionPenalty, history);
        }
        if (plan.presencePenalty != 0 || plan.frequencyPenalty != 0) {
            punishPresence(logits, plan, history);
        }
    }

    private void punishRepetition(float[] logits, float penalty, TokenHistory history) {
        round++;
        for (int i = 0; i < history.length(); i++) {
            int id = history.id(i);
            if (id < logits.length && lastSeen[id] != round) {
                lastSeen[id] = round;
                logits[id] = logits[id] > 0 ? logits[id] / penalty : logits[id] * penalty;
            }
        }
    }

    private void punishPresence(float[] logits, SamplingPlan plan, TokenHistory history) {
        for (int i = history.promptLength(); i < history.length(); i++) {
            counts[history.id(i)]++;
        }
        float frequency = (float) plan.frequencyPenalty;
        float presence = (float) plan.presencePenalty;
        for (int i = history.promptLength(); i < history.length(); i++) {
            int id = history.id(i);
            if (counts[id] > 0) {
                logits[id] -= frequency * counts[id];
                logits[id] -= presence;
                counts[id] = 0;
            }
        }
    }
}
