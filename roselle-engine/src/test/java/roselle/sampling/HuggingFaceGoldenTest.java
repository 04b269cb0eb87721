package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import roselle.batch.SamplingPlan;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What stays in play, and how likely, is what Hugging Face's LogitsProcessors say; see tools/sampling. */
final class HuggingFaceGoldenTest {
    private static JsonNode golden() throws IOException {
        try (InputStream in = HuggingFaceGoldenTest.class.getResourceAsStream("/sampling/golden.json")) {
            return JsonMapper.shared().readTree(Objects.requireNonNull(in).readAllBytes());
        }
    }

    private static int[] ints(JsonNode array) {
        int[] values = new int[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = array.get(i).asInt();
        }
        return values;
    }

    private static MemorySegment floats(JsonNode array) {
        float[] values = new float[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) array.get(i).asDouble();
        }
        return MemorySegment.ofArray(values);
    }

    private static SamplingPlan plan(JsonNode given, int vocabulary) {
        var plans = new Plans();
        plans.temperature = given.get("temperature").asDouble();
        plans.topK = given.get("topK").asInt();
        plans.topP = given.get("topP").asDouble();
        plans.minP = given.get("minP").asDouble();
        plans.typicalP = given.get("typicalP").asDouble();
        plans.repetition = given.get("repetition").asDouble();
        plans.presence = given.get("presence").asDouble();
        plans.frequency = given.get("frequency").asDouble();
        plans.minTokens = given.get("minTokens").asInt();
        Map<Integer, Float> bias = new HashMap<>();
        for (var entry : given.get("bias").properties()) {
            bias.put(Integer.valueOf(entry.getKey()), (float) entry.getValue().asDouble());
        }
        plans.bias = bias;
        Set<Integer> stopIds = new HashSet<>();
        for (int id : ints(given.get("stop"))) {
            stopIds.add(id);
        }
        plans.stopIds = stopIds;
        plans.topLogprobs = 20;
        return plans.plan(vocabulary);
    }

    @Test
    void distributionsAreThoseOfHuggingFace() throws IOException {
        JsonNode golden = golden();
        int vocabulary = golden.get("vocabulary").asInt();
        var sampler = new Sampler(vocabulary);
        int compared = 0;
        for (JsonNode given : golden.get("cases")) {
            compare(sampler, golden, given, vocabulary, compared++);
        }
        assertThat(compared).isEqualTo(120);
    }

    private static void compare(Sampler sampler, JsonNode golden, JsonNode given, int vocabulary, int number) {
        int[] prompt = ints(given.get("prompt"));
        int[] output = ints(given.get("output"));
        int[] all = new int[prompt.length + output.length];
        System.arraycopy(prompt, 0, all, 0, prompt.length);
        System.arraycopy(output, 0, all, prompt.length, output.length);
        var history = new OneRow.History(all, prompt.length, all.length);
        MemorySegment row = floats(golden.get("rows").get(given.get("row").asInt()));
        SamplingPlan plan = plan(given, vocabulary);
        var one = new OneRow(sampler);
        int token = one.sample(row, 0, plan, history);
        if (given.get("temperature").asDouble() == 0) {
            assertThat(token)
                    .as("case %d", number)
                    .isEqualTo(given.get("greedy").asInt());
        } else {
            compareKept(one.candidates(), given.get("kept"), number);
        }
        JsonNode logprobs = given.get("rawLogprobs");
        if (logprobs.size() > 0) {
            assertThat((double) sampler.report().chosen())
                    .as("log-probability of case %d", number)
                    .isCloseTo(logprobs.get(token).asDouble(), within(1e-5));
        }
    }

    private static void compareKept(Candidates candidates, JsonNode kept, int number) {
        double total = 0;
        for (int i = 0; i < candidates.count(); i++) {
            total += candidates.weight(i);
        }
        Map<String, Double> seen = new HashMap<>();
        for (int i = 0; i < candidates.count(); i++) {
            seen.put(Integer.toString(candidates.id(i)), candidates.weight(i) / total);
        }
        assertThat(seen.keySet()).as("tokens kept in case %d", number).isEqualTo(Set.copyOf(kept.propertyNames()));
        for (var entry : kept.properties()) {
            assertThat(seen.get(entry.getKey()))
                    .as("probability of %s in case %d", entry.getKey(), number)
                    .isCloseTo(entry.getValue().asDouble(), within(2e-6));
        }
    }
}
