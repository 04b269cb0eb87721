package example;

import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.async.ResultFuture;
import org.apache.flink.streaming.api.functions.async.RichAsyncFunction;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.offline.Answer;
import roselle.offline.RowGenerator;
import roselle.offline.RowKey;

/** Answers each question on a virtual thread; the rows of all tasks are in the batch of one engine. */
final class Answering extends RichAsyncFunction<String, String> {
    private static final long serialVersionUID = 1L;

    private transient RowGenerator generator;

    @Override
    public void open(OpenContext context) throws Exception {
        generator = new RowGenerator(SharedEngine.take());
    }

    @Override
    public void close() {
        if (generator != null) {
            SharedEngine.giveBack();
        }
    }

    @Override
    public void asyncInvoke(String question, ResultFuture<String> result) {
        Thread.startVirtualThread(() -> {
            try {
                result.complete(List.of(text(generator.answer(request(question)))));
            } catch (RuntimeException failure) {
                result.completeExceptionally(failure);
            }
        });
    }

    /** The seed is of the question, so that a task that is tried again says the same. */
    private static GenerationRequest request(String question) {
        var prompt = new Prompt.Chat(List.of(ChatMessage.user(question)), List.of(), Map.of());
        return GenerationRequest.builder()
                .prompt(prompt)
                .seed(RowKey.seed(0, prompt))
                .maxTokens(40)
                .build();
    }

    private static String text(Answer answer) {
        return switch (answer) {
            case Answer.Generated generated -> generated.text();
            case Answer.Failed failed -> "no answer: " + failed.message();
        };
    }
}
