package roselle.server.openai;

import roselle.api.GenerationRequest;
import roselle.server.config.ServedModel;

/**
 * A chat completion that was asked for.
 *
 * @param streams whether to answer with events
 * @param reportsUsage whether the stream ends with the usage
 */
record ChatCall(ServedModel model, GenerationRequest request, boolean streams, boolean reportsUsage) {}
