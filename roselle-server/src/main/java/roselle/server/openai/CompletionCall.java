package roselle.server.openai;

import java.util.List;
import roselle.api.GenerationRequest;
import roselle.server.config.ServedModel;

/**
 * A completion that was asked for, of one prompt or of several.
 *
 * @param requests one for each prompt, alike in all but the prompt
 * @param echoes what each prompt is told as before its continuation; empty if that is not wanted
 * @param hasLogprobs whether log-probabilities are told
 * @param onlyPrompt whether nothing but the prompt is wanted; the engine makes one token all the same, which is dropped
 * @param streams whether to answer with events
 * @param reportsUsage whether the stream ends with the usage
 */
record CompletionCall(
        ServedModel model,
        List<GenerationRequest> requests,
        List<String> echoes,
        boolean hasLogprobs,
        boolean onlyPrompt,
        boolean streams,
        boolean reportsUsage) {
    /** Answers to each prompt. */
    int choices() {
        return requests.getFirst().output().choices();
    }
}
