package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.stream.IntStream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;
import roselle.engine.Engine;
import roselle.offline.RowPool;

class QuestionsTest {
    private static final int QUESTIONS = 100;

    private static TopologyTestDriver driver(Engine engine) {
        return new TopologyTestDriver(Questions.topology(engine, new RowPool(64)), new Properties());
    }

    private static List<KeyValue<String, String>> questions() {
        return IntStream.range(0, QUESTIONS)
                .mapToObj(i -> KeyValue.pair("%03d".formatted(i), "What is " + i + " + 30?"))
                .toList();
    }

    private static List<KeyValue<String, String>> answers(TopologyTestDriver driver) {
        var text = Serdes.String().deserializer();
        return driver.createOutputTopic("answers", text, text).readKeyValuesToList();
    }

    private static void ask(TopologyTestDriver driver, List<KeyValue<String, String>> questions) {
        var text = Serdes.String().serializer();
        driver.createInputTopic("questions", text, text).pipeKeyValueList(questions);
    }

    @Test
    void answersInOrder() throws Exception {
        try (Engine engine = Questions.open()) {
            List<KeyValue<String, String>> all;
            try (var driver = driver(engine)) {
                ask(driver, questions());
                all = answers(driver);
                assertEquals(QUESTIONS - 32, all.size()); // the others are in the engine
                driver.advanceWallClockTime(Duration.ofSeconds(1));
                all.addAll(answers(driver));
                assertEquals(0, driver.getKeyValueStore(Questions.PENDING).approximateNumEntries());
            }
            assertEquals(
                    questions().stream().map(each -> each.key).toList(),
                    all.stream().map(each -> each.key).toList());
            assertTrue(all.get(12).value.contains("42"), all.get(12).value);
        }
    }

    /** A task that takes over finds in the store what the one before it had read and not answered. */
    @Test
    void asksAgainWhatHasNoAnswer() throws Exception {
        var context = new MockProcessorContext<String, String>();
        context.setCurrentSystemTimeMs(0);
        KeyValueStore<String, String> pending = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(Questions.PENDING), Serdes.String(), Serdes.String())
                .withLoggingDisabled()
                .build();
        pending.init(context.getStateStoreContext(), pending);
        context.addStateStore(pending);
        pending.put("a", "What is 12 + 30?");
        try (Engine engine = Questions.open()) {
            var answering = new Answering(engine, new RowPool(64));
            answering.init(context);
            assertEquals(0, context.forwarded().size());
            context.scheduledPunctuators().getFirst().getPunctuator().punctuate(0);
            assertEquals("a", context.forwarded().getFirst().record().key());
            assertTrue(String.valueOf(context.forwarded().getFirst().record().value()).contains("42"));
            assertEquals(0, pending.approximateNumEntries());
            answering.close();
        }
    }
}
