import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.ResponseFormat;
import roselle.backend.DeviceOptions;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.Generation;

/**
 * What holding answers to a schema costs many rows of a batch, beside the same without: java --add-modules jdk.incubator.vector
 * --enable-native-access=ALL-UNNAMED -cp CLASSES HeldRows.java MODEL DEVICE ROWS; rounds by turns in one engine, as CSV.
 */
final class HeldRows {
    private static final int ROUNDS = 5;
    private static final int TOKENS = 128;
    private static final ResponseFormat LONG_ARRAY = new ResponseFormat.JsonSchema(
            "{\"type\": \"array\", \"minItems\": 60, \"items\": {\"type\": \"string\", \"minLength\": 5}}");

    private HeldRows() {}

    public static void main(String[] arguments) throws InterruptedException, ExecutionException {
        int rows = Integer.parseInt(arguments[2]);
        var device = new DeviceOptions(arguments[1], 0, "auto", "auto");
        EngineConfig config = EngineConfig.of(Path.of(arguments[0]))
                .with(device)
                .with(new BatchOptions(512, rows, 2048, 0, 4 * rows));
        System.out.println("round,answers,tokens,\"tokens/s\",\"ITL p50, ms\",\"ITL p99, ms\"");
        try (Engine engine = Engine.open(config)) {
            for (int round = 0; round <= ROUNDS; round++) {
                for (ResponseFormat format : List.of(ResponseFormat.TEXT, LONG_ARRAY)) {
                    String line = measure(engine, rows, format);
                    if (round > 0) { // the one before warms up
                        System.out.println(round + "," + line);
                    }
                }
            }
        }
    }

    private static String measure(Engine engine, int rows, ResponseFormat format)
            throws InterruptedException, ExecutionException {
        List<Future<List<Long>>> waiting = new ArrayList<>();
        List<Long> gaps = new ArrayList<>();
        long start = System.nanoTime();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 2 * rows; i++) {
                int seed = i;
                waiting.add(threads.submit(() -> gaps(engine, request(seed, format))));
            }
            for (Future<List<Long>> generation : waiting) {
                gaps.addAll(generation.get());
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        long tokens = gaps.size() + waiting.size();
        gaps.sort(null);
        return String.format(
                Locale.ROOT,
                "%s,%d,%.0f,%.3f,%.3f",
                format.equals(ResponseFormat.TEXT) ? "any text" : "JSON of a schema",
                tokens,
                tokens / seconds,
                gaps.get(gaps.size() / 2) / 1e6,
                gaps.get(gaps.size() * 99 / 100) / 1e6);
    }

    private static GenerationRequest request(int seed, ResponseFormat format) {
        return GenerationRequest.builder()
                .user("Tell me a story about a fox and the number " + seed)
                .seed(seed)
                .temperature(1)
                .maxTokens(TOKENS)
                .ignoreEos(true)
                .format(format)
                .build();
    }

    /** Nanoseconds between the tokens of an answer. */
    private static List<Long> gaps(Engine engine, GenerationRequest request) {
        List<Long> gaps = new ArrayList<>();
        long last = 0;
        try (Generation generation = engine.submit(request)) {
            for (var event : generation) {
                if (event instanceof TokenGenerated) {
                    long now = System.nanoTime();
                    if (last != 0) {
                        gaps.add(now - last);
                    }
                    last = now;
                }
            }
        }
        return gaps;
    }
}
