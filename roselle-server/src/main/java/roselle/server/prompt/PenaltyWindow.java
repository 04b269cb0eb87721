package roselle.server.prompt;

import roselle.api.GenerationRequestBuilder;
import roselle.api.SamplingParameters;
import roselle.server.http.JsonFields;

/** Reads over how many of the latest tokens penalties look: {@code repeat_last_n}, of prompt and answer, all penalties alike. */
public final class PenaltyWindow {
    /** What the field says for all tokens. */
    private static final int ALL = -1;

    private PenaltyWindow() {}

    /** Reads the field into a request whose penalties are set: 0 switches them off. */
    public static void read(JsonFields fields, GenerationRequestBuilder request) {
        request.penalizesPrompt(true);
        fields.integer("repeat_last_n", ALL, Integer.MAX_VALUE).ifPresent(last -> {
            if (last == 0) {
                request.repetitionPenalty(1).presencePenalty(0).frequencyPenalty(0);
            } else {
                request.penaltyWindow(last == ALL ? SamplingParameters.ALL_TOKENS : last);
            }
        });
    }

    /** The field that says it. */
    public static int shown(SamplingParameters sampling) {
        int window = sampling.penaltyWindow();
        return window == SamplingParameters.ALL_TOKENS ? ALL : window;
    }
}
