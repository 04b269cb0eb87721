package roselle.server.prompt;

import roselle.api.GenerationRequestBuilder;
import roselle.api.SamplingParameters;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/**
 * Reads over how many of the latest tokens penalties look: here at all of prompt and answer, or at none. Where nothing is penalised any
 * number means the same.
 */
public final class PenaltyWindow {
    private PenaltyWindow() {}

    /**
     * Reads {@code repeat_last_n} into a request whose penalties are set.
     *
     * @param advice the penalties of what the fields leave open
     */
    public static void read(
            JsonFields fields, GenerationRequestBuilder request, SamplingParameters advice, int context) {
        String name = "repeat_last_n";
        int last = fields.integer(name, -1, Integer.MAX_VALUE).orElse(-1);
        if (last == 0) {
            request.repetitionPenalty(1).presencePenalty(0).frequencyPenalty(0);
        } else if (last > 0 && last < context && penalises(fields, advice)) {
            throw ApiException.invalid(
                    fields.path(name),
                    fields.path(name) + " is " + last
                            + ": penalties look at all tokens, which is -1, or at none, which is 0");
        }
    }

    private static boolean penalises(JsonFields fields, SamplingParameters advice) {
        return value(fields, "repeat_penalty", advice.repetitionPenalty()) != 1
                || value(fields, "presence_penalty", advice.presencePenalty()) != 0
                || value(fields, "frequency_penalty", advice.frequencyPenalty()) != 0;
    }

    private static double value(JsonFields fields, String name, double otherwise) {
        return fields.number(name, -100, 100).orElse(otherwise);
    }
}
