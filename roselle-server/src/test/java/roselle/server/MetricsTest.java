package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import roselle.engine.EnginePlan;

final class MetricsTest {
    private static final String CHAT =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Tell me a story.\"}],\"max_tokens\":8,\"ignore_eos\":true}";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
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
