package roselle.server.openai;

import java.util.List;
import java.util.stream.Stream;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.server.chat.AnswerSplitter;
import roselle.server.chat.Markers;
import roselle.server.config.ServedModel;

/**
 * A chat completion that was asked for.
 *
 * @param markers how the model marks its thoughts and calls
 * @param streams whether to answer with events
 * @param reportsUsage whether the stream ends with the usage
 */
record ChatCall(ServedModel model, GenerationRequest request, Markers markers, boolean streams, boolean reportsUsage) {
    /** One for each choice of the answer. */
    List<AnswerSplitter> splitters(int[] prompt) {
        boolean mayCall =
                request.prompt() instanceof Prompt.Chat chat && !chat.tools().isEmpty();
        boolean isThinking = markers.isThinking(prompt);
        return Stream.generate(() -> new AnswerSplitter(markers, mayCall, isThinking))
                .limit(request.output().choices())
                .toList();
    }
}
