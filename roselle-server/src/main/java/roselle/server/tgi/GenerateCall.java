package roselle.server.tgi;

import java.util.OptionalInt;
import java.util.OptionalLong;
import roselle.api.GenerationRequest;
import roselle.server.config.ServedModel;

/**
 * A continuation that was asked for.
 *
 * @param streams whether to answer with events
 * @param keptTokens how many of the prompt's last tokens are continued, if not all
 * @param shape what is told beside the text
 */
record GenerateCall(
        ServedModel model, GenerationRequest request, boolean streams, OptionalInt keptTokens, Shape shape) {
    /**
     * What an answer tells.
     *
     * @param lead what stands before the continuation: the prompt, or nothing
     * @param isList whether the answer is the only element of a list
     * @param hasDetails whether it tells its tokens and how it ended
     * @param topTokens how many likeliest tokens are told at each position
     * @param seed which the caller chose
     */
    record Shape(String lead, boolean isList, boolean hasDetails, int topTokens, OptionalLong seed) {}
}
