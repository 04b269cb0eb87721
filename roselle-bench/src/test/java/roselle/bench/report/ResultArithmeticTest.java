package roselle.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import roselle.bench.backend.Sampling;
import roselle.bench.environment.Energy;
import roselle.bench.environment.ProcessorUse;
import roselle.bench.load.LoadOptions;
import roselle.bench.metric.ChunkTimes;
import roselle.bench.metric.Objective;
import roselle.bench.metric.RequestSample;
import roselle.bench.stage.CapacitySearch;
import roselle.bench.stage.CapacitySearch.Ending;
import roselle.bench.stage.CapacityStage.Probe;
import roselle.bench.stage.OfflinePlan;
import roselle.bench.stage.OfflineRun;
import roselle.bench.stage.OnlinePlan;
import roselle.bench.trace.PromptMode;
import roselle.bench.trace.SyntheticTrace;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Figures of results that were computed by hand. */
final class ResultArithmeticTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Sampling GREEDY = new Sampling(0, 1, 0, true);

    /** Searches of 10, 12 and 14: mean 12, Student's half width 4.303 · 2 / √3 = 4.96868; on two cards 6 each. */
    @Test
    void capacityIsTheMeanOfSearchesWithStudentsInterval() {
        JsonNode found = capacity(2, 10, 12, 14);

        assertThat(found.path("requests_per_second").asDouble()).isEqualTo(12);
        assertThat(found.path("half_width").asDouble()).isCloseTo(4.96868, within(1e-5));
        assertThat(found.path("requests_per_second_per_gpu").asDouble()).isEqualTo(6);
        assertThat(found.path("refused").get(0).asDouble()).isEqualTo(10.5);
        assertThat(found.path("endings").get(0).asString()).isEqualTo("bounds within tolerance");
    }

    @Test
    void namesNoCardWhereThereIsNone() {
        JsonNode found = capacity(0, 1.0 / 3);

        assertThat(found.path("requests_per_second_per_gpu").asString()).isEqualTo("no GPU");
        assertThat(found.path("half_width").asString()).isEqualTo("unknown: one search");
        assertThat(found.path("searches").get(0).asDouble()).isEqualTo(0.333333);
    }

    /** Two probes whose one request is good: within 2 s is 0.5 a second, within 0.5 s is 2 a second. */
    @Test
    void highestGoodputIsThatOfTheBestProbe() {
        CapacityResults results = results();
        results.add("a", probe(2 * SECOND));
        results.add("a", probe(SECOND / 2));
        results.add("b", probe(SECOND / 4));
        results.add("a", 1, List.of(result(1)));

        assertThat(json(results.document())
                        .path("capacities")
                        .get(0)
                        .path("goodput_per_second")
                        .asDouble())
                .isEqualTo(2);
    }

    /**
     * Four prompts of 10 tokens with answers of 5, in 2 s and in 4 s: at best 2 requests, 10 output tokens and 30 tokens a
     * second; 10 and 5 output tokens a second have the mean 7.5 and the deviation √(2 · 2.5²) = 3.53553; 80 J for 40 output
     * tokens are 2 J each.
     */
    @Test
    void offlineRatesAreOfTheBestRepeatAndOfAll() {
        var results = new OfflineResults(new Meta("1", List.of()), new OfflinePlan(4, 10, 5, GREEDY, 1, 2));
        var use = new ProcessorUse(OptionalDouble.of(2), 0.25, OptionalDouble.of(1.5));
        var run = new OfflineRun(
                "a",
                "http",
                "1",
                List.of(2.0, 4.0),
                4,
                40,
                20,
                Optional.of(use),
                List.of(new Energy("meter", 80)),
                1,
                "");
        results.add(run, List.of());
        JsonNode document = json(results.document());

        JsonNode found = document.path("runs").get(0);
        assertThat(found.path("best_requests_per_second").asDouble()).isEqualTo(2);
        assertThat(found.path("best_output_tokens_per_second").asDouble()).isEqualTo(10);
        assertThat(found.path("best_total_tokens_per_second").asDouble()).isEqualTo(30);
        assertThat(found.path("mean_output_tokens_per_second").asDouble()).isEqualTo(7.5);
        assertThat(found.path("deviation_output_tokens_per_second").asDouble()).isEqualTo(3.53553);
        assertThat(found.path("energy").get(0).path("joules_per_output_token").asDouble())
                .isEqualTo(2);
        assertThat(Markdown.of(document))
                .contains("| a | http | 2 | 10 | 30 | 7.50 ± 3.54 | 1.50, 0.250, 0.250 | 1 | 1 |")
                .contains("a (http): 2.0 J per output token by meter")
                .contains("a (http): other programs took 0.250 cores of this machine meanwhile");
    }

    private static JsonNode capacity(int gpus, double... carried) {
        CapacityResults results = results();
        results.add(
                "a",
                gpus,
                DoubleStream.of(carried).mapToObj(ResultArithmeticTest::result).toList());
        return json(results.document()).path("capacities").get(0);
    }

    private static CapacitySearch.Result result(double carried) {
        return new CapacitySearch.Result(OptionalDouble.of(carried), OptionalDouble.of(carried + 0.5), Ending.NARROW);
    }

    private static CapacityResults results() {
        var plan = new OnlinePlan(
                SyntheticTrace.read("constant:rate=1,input=1,output=1", 1),
                List.of(1.0),
                1,
                PromptMode.INDEPENDENT,
                false,
                GREEDY,
                1,
                0,
                LoadOptions.DEFAULT,
                new Objective(10_000, 10_000, 0));
        return new CapacityResults(new Meta("1", List.of()), plan);
    }

    private static Probe probe(long end) {
        var sample = new RequestSample(0, 1, 1, 0, 0, ChunkTimes.of(end), end, Optional.empty(), Optional.empty());
        return new Probe(0, 1, true, List.of(sample));
    }

    private static JsonNode json(Map<String, Object> document) {
        return new JsonMapper().valueToTree(document);
    }
}
