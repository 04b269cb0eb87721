package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a seed gives is fixed: noise and tokens are those that tools/sampling/make_draws.py computed, bit by bit. */
final class DrawGoldenTest {
    private static JsonNode golden() throws IOException {
        try (InputStream in = DrawGoldenTest.class.getResourceAsStream("/sampling/draws.json")) {
            return JsonMapper.shared().readTree(Objects.requireNonNull(in).readAllBytes());
        }
    }

    @Test
    void noiseHasTheBitsOfTheOtherImplementation() throws IOException {
        for (JsonNode given : golden().get("noise")) {
            long seed = Long.parseLong(given.get(0).asString());
            int position = given.get(1).asInt();
            int id = given.get(2).asInt();
            double noise = TokenNoise.of(seed, position, id, TokenNoise.spanBits(seed, position, id / TokenNoise.SPAN));
            assertThat(Long.toHexString(Double.doubleToRawLongBits(noise)))
                    .as("seed %d, position %d, token %d", seed, position, id)
                    .isEqualTo(given.get(3).asString());
        }
    }

    @Test
    void tokensAreThoseOfTheOtherImplementation() throws IOException {
        for (JsonNode given : golden().get("rows")) {
            float[] logits = new float[given.get("logits").size()];
            for (int i = 0; i < logits.length; i++) {
                logits[i] = (float) given.get("logits").get(i).asDouble();
            }
            var plans = new Plans();
            plans.temperature = given.get("temperature").asDouble();
            plans.seed = given.get("seed").asLong();
            for (double minP : new double[] {0, 1e-12}) { // with a filter that keeps all, and without
                plans.minP = minP;
                var one = new OneRow(new Sampler(logits.length));
                for (int position = 0; position < given.get("tokens").size(); position++) {
                    int token = one.sample(
                            MemorySegment.ofArray(logits),
                            0,
                            plans.plan(logits.length),
                            OneRow.History.ofPrompt(position));
                    assertThat(token)
                            .as("%d tokens, temperature %s, position %d", logits.length, plans.temperature, position)
                            .isEqualTo(given.get("tokens").get(position).asInt());
                }
            }
        }
    }
}
