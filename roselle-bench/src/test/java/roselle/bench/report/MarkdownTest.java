package roselle.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tables of results, as people read them. */
final class MarkdownTest {
    private static final String RUN = """
            {"backend": "%s", "scale": %s, "repeat": %d, "requests_per_second": 4, "output_tokens": 90, "chunks": 80,
             "ttft_ms": {"count": 30, "p50": 1.234, "p90": 20, "p99": 300.4, "p99_is_supported": true},
             "tpot_ms": {"count": 29, "p50": 1, "p90": 2, "p99": 3}, "itl_ms": {"count": 0},
             "e2e_ms": {"count": 30, "p50": 100, "p90": 200, "p99": 30000},
             "processors": {"machine_cores": 1.9, "generator_cores": 0.1, "engine_cores": 1.0, "other_cores": 0.8},
             "energy": [%s]}
            """;

    private static final String META = """
            {"roselle": "roselle 1", "git_revision": "abc", "started": "2026-11-21T16:11:29.123Z", "wall_seconds": 25.2,
             "machine": {"cpu": "EPYC", "cores": 2, "memory_bytes": 25769803776, "load_average": 0.5, "gpus": ["H200"]}}
            """;

    private static JsonNode document(String... runs) {
        return new JsonMapper()
                .readTree("{\"schema\": \"roselle.bench.online/1\", \"workload\": {\"trace\": \"t\", \"requests\": 30},"
                        + "\"meta\": " + META + ", \"backends\": [{\"name\": \"a|b\", \"version\": \"v1\","
                        + "\"prompt_format\": \"ids\", \"command\": [\"serve\", \"x|y\"], \"ready_seconds\": 2.5},"
                        + "{\"name\": \"c\", \"version\": \"v2\", \"prompt_format\": \"text\", \"command\": [],"
                        + "\"url\": \"http://h\"}], \"runs\": [" + String.join(",", runs) + "]}");
    }

    @Test
    void enginesThatMetTheSameLoadStandOneBelowTheOther() {
        List<String> rows = Markdown.of(document(
                        RUN.formatted("a|b", "0.4", 0, ""),
                        RUN.formatted("a|b", "1.6", 0, ""),
                        RUN.formatted("c", "0.4", 0, ""),
                        RUN.formatted("c", "1.6", 0, "")))
                .lines()
                .filter(line -> line.contains("1.23 / 20 / 300"))
                .map(line -> line.substring(0, line.indexOf(" | 1.23")))
                .toList();

        assertThat(rows).containsExactly("| 0.4 | a\\|b", "| 0.4 | c", "| 1.6 | a\\|b", "| 1.6 | c");
    }

    @Test
    void everyPercentileHasItsCount() {
        assertThat(Markdown.of(document(RUN.formatted("c", "1", 0, ""))))
                .contains("| 1 | c | 1.23 / 20 / 300 | 1 / 2 / 3 | – | 100 / 200 / 30000 | 30 / 29 / 0 / 30 |");
    }

    @Test
    void tellsWhereAndByWhatItWasMeasured() {
        assertThat(Markdown.of(document(RUN.formatted("c", "1", 0, ""))))
                .contains("Measured at 2026-11-21 16:11:29 UTC in 25 s by roselle 1, revision abc, on 2 cores of EPYC,"
                        + " 24 GiB; H200; load average 0.5 at the start.")
                .contains("| a\\|b | v1 | ids | 2.50 | serve x\\|y |")
                .contains("| c | v2 | text | ran already | http://h |");
    }

    @Test
    void saysOfAnEngineThatFailedNotThatItRanAlready() {
        JsonNode document = new JsonMapper()
                .readTree("{\"schema\": \"roselle.bench.online/1\", \"meta\": " + META
                        + ", \"backends\": [{\"name\": \"a\","
                        + "\"version\": \"unknown\", \"prompt_format\": \"ids\", \"command\": [],"
                        + "\"failure\": \"it was not ready\"}]}");

        assertThat(Markdown.of(document))
                .contains("| a | unknown | ids | failed |  |")
                .contains("a has no or not all figures: it was not ready");
    }

    @Test
    void saysWhyAnEngineHasNoCapacity() {
        JsonNode document = new JsonMapper()
                .readTree("{\"schema\": \"roselle.bench.capacity/1\", \"backends\": [{\"name\": \"a\","
                        + "\"failure\": \"it was not ready\"}, {\"name\": \"b\", \"note\": \"text only\"}], \"capacities\": [{"
                        + "\"backend\": \"b\", \"requests_per_second\": 12, \"gpus\": 0, \"half_width\": 5,"
                        + "\"requests_per_second_per_gpu\": \"no GPU\", \"searches\": [10, 12, 14], \"goodput_per_second\": 13,"
                        + "\"endings\": [\"out of probes\", \"out of probes\", \"bounds within tolerance\"]}], \"probes\": [{\"backend\": \"b\", \"search\": 0,"
                        + "\"rate\": 50, \"requests\": 2, \"failed\": 2, \"failure_examples\": [\"status 500\"],"
                        + "\"ttft_ms\": {\"count\": 0}, \"itl_ms\": {\"count\": 0}}]}");

        assertThat(Markdown.of(document))
                .contains("- a has no or not all figures: it was not ready")
                .contains("- b: text only")
                .contains("- b, a request failed: status 500")
                .contains("| b | 0 | 50 | no | 2 | – | – | 2 |")
                .contains("| b | 12 | 5 | 0 | – | 13 | 3 | out of probes; bounds within tolerance |");
    }

    @Test
    void tellsRepeatsApartAndShowsEnergyWhereItWasMeasured() {
        String plain = Markdown.of(document(RUN.formatted("c", "1", 0, "")));
        String repeated = Markdown.of(document(
                RUN.formatted("c", "1", 0, "{\"source\": \"NVML\", \"joules_per_output_token\": 0.25}"),
                RUN.formatted("c", "1", 1, "")));

        assertThat(plain).doesNotContain("repeat", "J/output token");
        assertThat(repeated).contains("| 1, repeat 1 | c |", "| 1, repeat 2 | c |", "J/output token |", "| 0.250 |");
    }

    @Test
    void doubtsFiguresOfABusyMachineAndOfChunks() {
        assertThat(Markdown.of(document(RUN.formatted("c", "1", 0, ""))))
                .contains("1, 0.100, 0.800")
                .contains("c at scale 1: other programs took 0.800 cores of this machine meanwhile")
                .contains("c at scale 1: chunks carry more than one token");
    }

    @Test
    void thePageShowsABarWithinACellAsItIs() {
        String page = HtmlReport.of(Map.of("online_results", document(RUN.formatted("a|b", "1", 0, ""))), Map.of());

        assertThat(page)
                .contains("<td>a|b</td>", "<td class=\"figure\">1.23 / 20 / 300</td>")
                .doesNotContain("<small>online_results");
    }
}
