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
        float presence = (float) plan.presencePenalty;
        apply(logits, (float) plan.repetitionPenalty, presence, (float) plan.frequencyPenalty, history);
    }

    void apply(float[] logits, float repetition, float presence, float frequency, TokenHistory history) {
        if (repetition != 1) {
            punishRepetition(logits, repetition, history);
        }
        if (presence != 0 || frequency != 0) {
            punishPresence(logits, presence, frequency, history);
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

    private void punishPresence(float[] logits, float presence, float frequency, TokenHistory history) {
        for (int i = history.promptLength(); i < history.length(); i++) {
            counts[history.id(i)]++;
        }
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
