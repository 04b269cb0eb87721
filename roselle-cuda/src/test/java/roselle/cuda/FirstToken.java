package roselle.cuda;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.backend.DeviceOptions;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.Generation;

/** Measures how long an idle engine takes from the submission of a prompt of token ids to its first token. */
final class FirstToken {
    private static final int ROUNDS = 200;

    private FirstToken() {}

    /** Measures {@code MODEL COMPUTE PROMPT_TOKENS} on the first GPU. */
    public static void main(String[] arguments) {
        var device = new DeviceOptions("cuda", 0, "auto", arguments[1]);
        try (Engine engine = Engine.open(EngineConfig.of(Path.of(arguments[0])).with(device))) {
            System.out.print(engine.timeline().describe());
            int tokens = Integer.parseInt(arguments[2]);
            double[] micros = micros(engine, tokens, ROUNDS);
            System.out.printf(
                    "first token of %d after %.0f µs at best, %.0f in the middle, %.0f at the 90th percentile%n",
                    tokens, micros[0], micros[ROUNDS / 2], micros[ROUNDS * 9 / 10]);
        }
    }

    /** Of prompts one after the other, none like another; sorted. */
    static double[] micros(Engine engine, int promptTokens, int rounds) {
        var random = new Random(3);
        var micros = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            GenerationRequest request = request(random, promptTokens);
            long begin = System.nanoTime();
            micros[round] = (first(engine.submit(request)) - begin) / 1e3;
        }
        Arrays.sort(micros);
        return micros;
    }

    private static GenerationRequest request(Random random, int promptTokens) {
        return GenerationRequest.builder()
                .tokens(random.ints(promptTokens, 3, 300).toArray())
                .temperature(0)
                .maxTokens(2)
                .ignoreEos(true)
                .build();
    }

    /** When the first token came; reads all. */
    private static long first(Generation generation) {
        long first = 0;
        for (var event : generation) {
            if (first == 0 && event instanceof TokenGenerated) {
                first = System.nanoTime();
            }
        }
        return first;
    }
}
