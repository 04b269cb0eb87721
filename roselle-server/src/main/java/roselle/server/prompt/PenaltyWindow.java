package roselle.server.prompt;

import roselle.api.GenerationRequestBuilder;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/** Reads over how many of the latest tokens penalties look: here at all of prompt and answer, or at none. */
public final class PenaltyWindow {
    private PenaltyWindow() {}

    /** Reads the field into a request whose penalties are set. */
    public static void read(JsonFields fields, String name, GenerationRequestBuilder request, int context) {
        int last = fields.integer(name, -1, Integer.MAX_VALUE).orElse(-1);
        if (last == 0) {
            request.repetitionPenalty(1).presencePenalty(0).frequencyPenalty(0);
        } else if (last > 0 && last < context) {
            throw ApiException.invalid(
                    fields.path(name),
                    fields.path(name) + " is " + last
                            + ": penalties look at all tokens, which is -1, or at none, which is 0");
        }
    }
}
