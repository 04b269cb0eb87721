package roselle.server.kserve;

import java.util.Set;
import roselle.api.GenerationRequest;
import roselle.server.config.ServedModel;

/**
 * A continuation that was asked for.
 *
 * @param id which the caller chose, or empty
 * @param outputs the tensors that are told
 */
record GenerateCall(ServedModel model, GenerationRequest request, String id, Set<Output> outputs, Form form) {
    /**
     * How an answer is told.
     *
     * @param lead what stands before each continuation: the prompt, or nothing
     * @param tellsLogprobs whether there are log-probabilities to tell
     */
    record Form(boolean streams, String lead, boolean tellsLogprobs) {}
}
