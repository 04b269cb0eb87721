import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import roselle.api.GenerationEvent;
import roselle.api.GenerationRequest;
import roselle.api.ResponseFormat;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.Warming;

/**
 * What the first answers of a process cost under a schema, in processor time, as CSV: java --add-modules jdk.incubator.vector
 * --enable-native-access=ALL-UNNAMED -cp CLASSES FirstAnswers.java MODEL cold|prepared|warmed. "prepared" is what serve does once it is
 * ready, "warmed" what it does beside that while a large model is loaded. Each answer has a schema of its own; what the engine's thread
 * takes for as many tokens without a format is taken off.
 */
final class FirstAnswers {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final List<Integer> TOLD = List.of(1, 2, 5, 10, 20, 50);
    private static final int TOKENS = 48;

    private FirstAnswers() {}

    public static void main(String[] arguments) {
        if (arguments[1].equals("warmed")) {
            Warming.responseFormats();
        }
        var config = EngineConfig.of(Path.of(arguments[0])).with(new BatchOptions(512, 4, 512, 0, 16));
        try (Engine engine = Engine.open(config)) {
            for (int i = 0; i < 20; i++) {
                answer(engine, ResponseFormat.TEXT, i); // the model's own code is warm behind them
            }
            if (!arguments[1].equals("cold")) {
                engine.prepareResponseFormats();
            }
            System.out.println("process,answer,\"submitting, ms\",\"engine's thread for a token, us\"");
            for (int i = 1; i <= TOLD.getLast(); i++) {
                long[] text = answer(engine, ResponseFormat.TEXT, i);
                long[] held = answer(engine, new ResponseFormat.JsonSchema(schema(i)), i);
                if (TOLD.contains(i)) {
                    double more = (double) held[1] / held[2] - (double) text[1] / text[2];
                    System.out.printf(
                            Locale.ROOT, "%s,%d,%.2f,%.1f%n", arguments[1], i, (held[0] - text[0]) / 1e6, more / 1e3);
                }
            }
        }
    }

    private static String schema(int i) {
        return "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"name\",\"kind\",\"tags\"],\"properties\":{"
                + "\"name\":{\"type\":\"string\",\"minLength\":20,\"maxLength\":" + (60 + i) + "},\"kind\":{\"enum\":[\"small\",\"large"
                + i + "\"]},\"size\":{\"type\":\"number\",\"minimum\":0},\"tags\":{\"type\":\"array\",\"minItems\":3,\"items\":{"
                + "\"type\":\"string\",\"pattern\":\"^[a-z ]{3,}$\"}}}}";
    }

    /** Processor time of submitting and of the engine's thread behind it, and tokens. */
    private static long[] answer(Engine engine, ResponseFormat format, int seed) {
        var request = GenerationRequest.builder()
                .user("Tell me a story about a fox and the number " + seed)
                .seed(seed)
                .temperature(1)
                .maxTokens(TOKENS)
                .ignoreEos(true)
                .format(format)
                .build();
        long thread = engineThread();
        long before = CLOCK.getCurrentThreadCpuTime();
        try (var generation = engine.submit(request)) {
            long submitted = CLOCK.getCurrentThreadCpuTime() - before;
            long worked = CLOCK.getThreadCpuTime(thread);
            int tokens = 0;
            for (var event : generation) {
                tokens += event instanceof GenerationEvent.TokenGenerated ? 1 : 0;
            }
            return new long[] {submitted, CLOCK.getThreadCpuTime(thread) - worked, Math.max(1, tokens)};
        }
    }

    private static long engineThread() {
        for (long id : CLOCK.getAllThreadIds()) {
            var info = CLOCK.getThreadInfo(id);
            if (info != null && info.getThreadName().equals("roselle-engine")) {
                return id;
            }
        }
        throw new IllegalStateException("there is no engine's thread");
    }
}
