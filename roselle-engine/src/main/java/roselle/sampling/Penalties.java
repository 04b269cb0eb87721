package roselle.sampling;

import roselle.backend.step.SamplingRows;

/**
 * Changes logits by what was said before: repetition over prompt and answer (Keskar et al., CTRL), then frequency and
 * presence over the answer alone, as vLLM and OpenAI define them, or over the prompt too, as llama.cpp and Ollama do; each over what
 * of that is in the window of the latest tokens, as those have it.
 */
final class Penalties {
    private final int[] lastSeen; // [vocabulary] the round in which a token was last met
    private final int[] counts; // [vocabulary] all 0 between rounds
    private int round;

    Penalties(int vocabulary) {
        lastSeen = new int[vocabulary];
        counts = new int[vocabulary];
    }

    void apply(float[] logits, SamplingRows rows, int row) {
        int[] history = rows.history[row];
        int length = rows.position[row];
        if (rows.repetition[row] != 1) {
            punishRepetition(logits, rows.repetition[row], history, rows.historyStart(row), length);
        }
        if (rows.presence[row] != 0 || rows.frequency[row] != 0) {
            int start = rows.answerStart(row);
            for (int i = start; i < length; i++) {
                counts[history[i]]++;
            }
            for (int i = start; i < length; i++) {
                punishPresence(logits, rows.presence[row], rows.frequency[row], history[i]);
            }
        }
    }

    private void punishRepetition(float[] logits, float penalty, int[] history, int start, int length) {
        round++;
        for (int i = start; i < length; i++) {
            int id = history[i];
            if (id < logits.length && lastSeen[id] != round) {
                lastSeen[id] = round;
                logits[id] = logits[id] > 0 ? logits[id] / penalty : logits[id] * penalty;
            }
        }
    }

    private void punishPresence(float[] logits, float presence, float frequency, int id) {
        if (counts[id] > 0) {
            logits[id] -= frequency * counts[id];
            logits[id] -= presence;
            counts[id] = 0;
        }
    }
}
