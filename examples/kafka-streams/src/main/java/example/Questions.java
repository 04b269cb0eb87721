package example;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.state.Stores;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import roselle.offline.RowPool;

/** Questions of one topic, by their names, their answers in another: {@code Questions localhost:9092}. */
public final class Questions {
    static final String PENDING = "pending";

    private Questions() {}

    public static void main(String[] arguments) throws Exception {
        var settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "questions");
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 4);
        try (var engine = open();
                var streams = new KafkaStreams(topology(engine, new RowPool(128)), settings)) {
            streams.start();
            var end = new CountDownLatch(1);
            Runtime.getRuntime().addShutdownHook(new Thread(end::countDown));
            end.await();
        }
    }

    static Engine open() throws Exception {
        Path model = BundledModel.DEMO.unpackInto(Files.createDirectories(Path.of("target", "models")));
        return Engine.open(EngineConfig.of(model));
    }

    /** All tasks share an engine and its places. */
    static Topology topology(Engine engine, RowPool pool) {
        var text = Serdes.String();
        return new Topology()
                .addSource("questions", text.deserializer(), text.deserializer(), "questions")
                .addProcessor("answering", () -> new Answering(engine, pool), "questions")
                .addStateStore(
                        Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(PENDING), text, text)
                                .withLoggingEnabled(Map.of()),
                        "answering")
                .addSink("answers", "answers", text.serializer(), text.serializer(), "answering");
    }
}
