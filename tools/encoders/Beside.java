import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import roselle.api.GenerationRequest;
import roselle.backend.DeviceOptions;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.Generation;

/**
 * What an encoder costs a model that writes in the same process on the same GPU, by turns: java --add-modules jdk.incubator.vector
 * --enable-native-access=ALL-UNNAMED -cp CLASSES Beside.java MODEL ENCODER DEVICE [ROUNDS]. Sixteen sequences write alone, beside four callers
 * with 16 texts of 50 tokens each, and beside eight with 16 of 512; CSV.
 */
final class Beside {
    private static final int SEQUENCES = 16;
    private static final int TOKENS = 390;
    private static final int TEXTS = 16;
    private static final int LEAST_ID = 5; // of tokens that mean nothing of their own
    private static final int IDS = 100;

    private final Engine engine;
    private final EmbeddingEngine encoder;

    private Beside(Engine engine, EmbeddingEngine encoder) {
        this.engine = engine;
        this.encoder = encoder;
    }

    public static void main(String[] arguments) throws InterruptedException {
        var device = new DeviceOptions(arguments[2], 0, "auto", "auto");
        EngineConfig config = EngineConfig.of(Path.of(arguments[0]))
                .with(device)
                .with(new BatchOptions(512, SEQUENCES, 2048, 0, 4 * SEQUENCES));
        int rounds = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 3;
        System.out.println("round,callers,tokens of a text,\"ms a token\",texts/s,texts/s without the model");
        try (EmbeddingEngine encoder =
                        EmbeddingEngine.open(EmbeddingConfig.of(Path.of(arguments[1])).with(device));
                Engine engine = Engine.open(config)) {
            var both = new Beside(engine, encoder);
            for (int round = 0; round <= rounds; round++) {
                both.measure(round, 0, 0);
                both.measure(round, 4, 50);
                both.measure(round, 8, 512);
            }
        }
    }

    private void measure(int round, int callers, int tokens) throws InterruptedException {
        var isOver = new AtomicBoolean();
        var texts = new AtomicLong();
        double millis;
        double beside;
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int caller = 0; caller < callers; caller++) {
                threads.submit(() -> ask(tokens, isOver, texts));
            }
            Thread.sleep(300);
            long begin = System.nanoTime();
            long before = texts.get();
            millis = write();
            beside = (texts.get() - before) * 1e9 / (System.nanoTime() - begin);
            Thread.sleep(500); // nobody writes
            begin = System.nanoTime();
            before = texts.get();
            Thread.sleep(1000);
            double alone = (texts.get() - before) * 1e9 / (System.nanoTime() - begin);
            isOver.set(true);
            if (round > 0) { // the one before warms up
                System.out.printf(
                        Locale.ROOT, "%d,%d,%d,%.3f,%.0f,%.0f%n", round, callers, tokens, millis, beside, alone);
            }
        }
    }

    /** Milliseconds of each token of sequences that all write. */
    private double write() {
        List<Generation> all = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < SEQUENCES; i++) {
            all.add(engine.submit(GenerationRequest.builder()
                    .tokens(IntStream.range(LEAST_ID, LEAST_ID + IDS + i).toArray())
                    .seed(i)
                    .temperature(1)
                    .maxTokens(TOKENS)
                    .ignoreEos(true)
                    .build()));
        }
        all.forEach(Generation::awaitWhole);
        all.forEach(Generation::close);
        return (System.nanoTime() - begin) / 1e6 / TOKENS;
    }

    private void ask(int tokens, AtomicBoolean isOver, AtomicLong texts) {
        List<int[]> request = Stream.generate(() -> new int[tokens]).limit(TEXTS).toList();
        request.forEach(text -> Arrays.setAll(text, i -> LEAST_ID + i % IDS));
        while (!isOver.get()) {
            encoder.embedIds(request, EmbeddingOptions.DEFAULT);
            texts.addAndGet(TEXTS);
        }
    }
}
