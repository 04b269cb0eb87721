package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.engine.EnginePlan;
import roselle.server.config.MetricOptions;
import roselle.server.config.ServerConfig;

final class MetricsTest {
    private static final String CHAT =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Tell me a story.\"}],\"max_tokens\":8,\"ignore_eos\":true}";

    private static DemoServer demo;
    private static String others;

    @BeforeAll
    static void start() {
        var names = ServerConfig.DEFAULT.with(new MetricOptions(List.of("vllm", "sglang")));
        try (var renamed = new DemoServer(names)) {
            renamed.post("/v1/chat/completions", CHAT);
            DemoServer.await(() -> renamed.get("/metrics").body().contains("vllm:request_success_total{"));
            others = renamed.get("/metrics").body();
        }
        demo = new DemoServer();
        demo.post("/v1/chat/completions", CHAT);
        demo.post("/v1/chat/completions", CHAT.replace("max_tokens", "max_tokns"));
        // an answer is counted after it has left
        DemoServer.await(() -> value(demo.get("/metrics").body(), "roselle_http_requests_total{status=\"400\"}") > 0);
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    @Test
    void countsAndTimesWhatWasAnswered() {
        String text = demo.get("/metrics").body();

        assertThat(value(text, "roselle_generated_tokens_total{model=\"demo\"}"))
                .isGreaterThanOrEqualTo(8);
        assertThat(value(text, "roselle_prompt_tokens_total{model=\"demo\"}")).isGreaterThan(0);
        assertThat(value(text, "roselle_time_to_first_token_seconds_count{model=\"demo\"}"))
                .isEqualTo(1);
        assertThat(value(text, "roselle_inter_token_latency_seconds_count{model=\"demo\"}"))
                .isEqualTo(7);
        assertThat(value(text, "roselle_request_duration_seconds_count{model=\"demo\"}"))
                .isEqualTo(1);
        assertThat(value(text, "roselle_request_queue_seconds_count{model=\"demo\"}"))
                .isEqualTo(1);
        assertThat(value(text, "roselle_requests_total{model=\"demo\",outcome=\"length\"}"))
                .isEqualTo(1);
        assertThat(value(text, "roselle_errors_total{code=\"unknown_field\",type=\"invalid_request_error\"}")
                        + value(text, "roselle_errors_total{code=\"unknown_parameter\",type=\"invalid_request_error\"}")
                        + value(text, "roselle_errors_total{code=\"none\",type=\"invalid_request_error\"}"))
                .isEqualTo(1);
        assertThat(value(text, "roselle_http_requests_total{status=\"400\"}")).isEqualTo(1);
    }

    @Test
    void hasTheFiveSeriesThatAGatewayRoutesBy() {
        assertThat(demo.get("/metrics").body())
                .contains("\nroselle_requests_waiting{model=\"demo\"} 0")
                .contains("\nroselle_requests_running{model=\"demo\"} ")
                .contains("\nroselle_kv_cache_usage_ratio{model=\"demo\"} ")
                .contains("\nroselle_device_info{device=\"cpu, ")
                .contains(
                        "\nroselle_cache_config_info{block_size=\"16\",cache_dtype=\"f16\",model=\"demo\",num_gpu_blocks=\""
                                + demo.engine().status().totalPages() + "\"} 1")
                .contains("\nroselle_lora_requests_info{max_lora=\"64\",model=\"demo\",running_lora_adapters=\"\"");
    }

    @Test
    void tellsWhatEachPoolIs() {
        EnginePlan.Cache pool = demo.engine().plan().caches().getFirst();
        String labels = "{holds=\"keys and values\",layers=\"" + pool.name() + "\",model=\"demo\",pool=\"0\",type=\""
                + pool.type().label() + "\"} ";
        String text = demo.get("/metrics").body();
        assertThat(value(text, "roselle_cache_pool_pages" + labels.strip())).isEqualTo(pool.pages());
        assertThat(value(text, "roselle_cache_pool_bytes" + labels.strip())).isEqualTo((double) pool.bytes());
    }

    /** What vLLM's dashboard (examples/observability/prometheus_grafana) and SGLang's (examples/monitoring) ask for. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "vllm:e2e_request_latency_seconds_bucket",
                "vllm:e2e_request_latency_seconds_sum",
                "vllm:e2e_request_latency_seconds_count",
                "vllm:prompt_tokens_total",
                "vllm:generation_tokens_total",
                "vllm:inter_token_latency_seconds_bucket",
                "vllm:inter_token_latency_seconds_sum",
                "vllm:inter_token_latency_seconds_count",
                "vllm:num_requests_running",
                "vllm:num_requests_waiting",
                "vllm:time_to_first_token_seconds_bucket",
                "vllm:time_to_first_token_seconds_sum",
                "vllm:time_to_first_token_seconds_count",
                "vllm:kv_cache_usage_perc",
                "vllm:request_prompt_tokens_bucket",
                "vllm:request_generation_tokens_bucket",
                "vllm:request_success_total",
                "vllm:request_queue_time_seconds_sum",
                "vllm:request_prefill_time_seconds_sum",
                "vllm:request_decode_time_seconds_sum",
                "vllm:request_max_num_generation_tokens_sum",
                "sglang:e2e_request_latency_seconds_bucket",
                "sglang:e2e_request_latency_seconds_sum",
                "sglang:e2e_request_latency_seconds_count",
                "sglang:time_to_first_token_seconds_bucket",
                "sglang:time_to_first_token_seconds_sum",
                "sglang:time_to_first_token_seconds_count",
                "sglang:num_running_reqs",
                "sglang:gen_throughput",
                "sglang:cache_hit_rate",
                "sglang:num_queue_reqs"
            })
    void hasTheSeriesOfOthersDashboards(String series) {
        assertThat(others.lines().filter(line -> line.startsWith(series + "{")))
                .isNotEmpty()
                .allSatisfy(
                        line -> assertThat(line).contains("model_name=\"demo\"").doesNotContain("model=\"demo\""));
    }

    @Test
    void keepsItsNumbersUnderOthersNames() {
        assertThat(value(others, "vllm:request_success_total{finished_reason=\"length\",model_name=\"demo\"}")
                        + value(others, "vllm:request_success_total{model_name=\"demo\",finished_reason=\"length\"}"))
                .isEqualTo(1);
        assertThat(value(others, "vllm:request_generation_tokens_sum{model_name=\"demo\"}"))
                .isEqualTo(8);
        assertThat(value(others, "vllm:request_max_num_generation_tokens_sum{model_name=\"demo\"}"))
                .isEqualTo(8);
        assertThat(value(others, "sglang:time_to_first_token_seconds_count{model_name=\"demo\"}"))
                .isEqualTo(1);
        assertThat(others)
                .contains("# TYPE vllm:num_requests_running gauge", "# TYPE sglang:num_running_reqs gauge")
                .contains("\nroselle_engine_up{") // which nobody else has
                .doesNotContain("roselle_requests_running");
        assertThat(demo.get("/metrics").body()).doesNotContain("vllm:", "sglang:");
    }

    @Test
    void isAcceptedByPromtool() throws IOException, InterruptedException {
        Path text = Files.createTempFile("metrics", ".txt");
        try {
            Files.writeString(text, demo.get("/metrics").body());
            var process = new ProcessBuilder(promtool().toString(), "check", "metrics")
                    .redirectInput(text.toFile())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(process.waitFor()).as(said).isZero();
            assertThat(said).isEmpty();
        } finally {
            Files.delete(text);
        }
    }

    private static Path promtool() {
        var found = Stream.of(String.valueOf(System.getenv("PATH")).split(":"))
                .map(folder -> Path.of(folder, "promtool"))
                .filter(Files::isExecutable)
                .findFirst();
        String missing = "promtool is not installed: run tools/test-programs.sh";
        if (found.isEmpty() && System.getenv("ROSELLE_ALL_TEST_PROGRAMS") != null) {
            throw new AssertionError(missing);
        }
        Assumptions.assumeTrue(found.isPresent(), missing);
        return found.orElseThrow();
    }

    /** The value of a series, 0 where it is not there. */
    private static double value(String text, String series) {
        return text.lines()
                .filter(line -> line.startsWith(series + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
                .findFirst()
                .orElse(0);
    }
}
