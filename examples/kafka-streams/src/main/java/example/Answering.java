package example;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.engine.Engine;
import roselle.offline.Answer;
import roselle.offline.OrderedRows;
import roselle.offline.RowGenerator;
import roselle.offline.RowKey;
import roselle.offline.RowPool;
import roselle.offline.RowWork;

/**
 * Answers a task's questions in their order, many at a time. Those that have none yet are in a store, because Kafka counts them as
 * read: a task that takes over asks them again, and the answers have the same bytes.
 */
final class Answering implements Processor<String, String, String, String> {
    private static final int AT_A_TIME = 32;
    private static final Duration LONGEST_WAIT = Duration.ofMillis(100);
    private static final long AHEAD_BYTES = 16 << 20;

    private record Answered(Record<String, String> question, String text) {}

    private final Queue<Record<String, String>> arrived = new ArrayDeque<>();
    private final OrderedRows<Record<String, String>, Answered> answers;
    private ProcessorContext<String, String> context;
    private KeyValueStore<String, String> pending;
    private int held;

    Answering(Engine engine, RowPool pool) {
        var rows = new Iterator<Record<String, String>>() {
            @Override
            public boolean hasNext() {
                return !arrived.isEmpty();
            }

            @Override
            public Record<String, String> next() {
                return arrived.remove();
            }
        };
        answers = new OrderedRows<>(rows, new Work(new RowGenerator(engine)), pool, AHEAD_BYTES);
    }

    @Override
    public void init(ProcessorContext<String, String> context) {
        this.context = context;
        pending = context.getStateStore(Questions.PENDING);
        try (var left = pending.all()) {
            left.forEachRemaining(each -> ask(new Record<>(each.key, each.value, context.currentSystemTimeMs())));
        }
        context.schedule(LONGEST_WAIT, PunctuationType.WALL_CLOCK_TIME, _ -> forwardDownTo(0));
    }

    @Override
    public void process(Record<String, String> question) {
        pending.put(question.key(), question.value());
        ask(question);
        forwardDownTo(AT_A_TIME);
    }

    private void ask(Record<String, String> question) {
        arrived.add(question);
        held++;
        answers.hasNext(); // it begins
    }

    private void forwardDownTo(int left) {
        while (held > left) {
            Answered answered = answers.next();
            held--;
            context.forward(answered.question().withValue(answered.text()));
            pending.delete(answered.question().key());
        }
    }

    @Override
    public void close() {
        answers.close();
    }

    private record Work(RowGenerator generator) implements RowWork<Record<String, String>, Answered> {
        private static final int MOST_TOKENS = 40;
        private static final int BYTES_OF_A_CHARACTER = 4;

        @Override
        public Answered answer(Record<String, String> question) {
            var prompt = new Prompt.Chat(List.of(ChatMessage.user(question.value())), List.of(), Map.of());
            var request = GenerationRequest.builder()
                    .prompt(prompt)
                    .seed(RowKey.seed(0, prompt))
                    .maxTokens(MOST_TOKENS)
                    .build();
            return new Answered(question, switch (generator.answer(request)) {
                case Answer.Generated generated -> generated.text();
                case Answer.Failed failed -> "no answer: " + failed.message();
            });
        }

        @Override
        public long expectedTokens(Record<String, String> question) {
            return question.value().length() / BYTES_OF_A_CHARACTER + MOST_TOKENS;
        }

        @Override
        public long rowBytes(Record<String, String> question) {
            return (long) BYTES_OF_A_CHARACTER * question.value().length();
        }

        @Override
        public long answerBytes(Answered answered) {
            return (long) BYTES_OF_A_CHARACTER * answered.text().length();
        }
    }
}
