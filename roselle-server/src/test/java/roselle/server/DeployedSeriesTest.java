package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import roselle.server.config.AccessOptions;
import roselle.server.config.GatewayTrust;
import roselle.server.config.ServerConfig;

/** Alerts, dashboard and scaling of {@code deploy} ask for nothing that nobody tells. */
final class DeployedSeriesTest {
    private static final String CHAT =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":2,\"ignore_eos\":true}";
    private static final String OF_GATEWAYS = "roselle_gateway_";

    @Test
    void theServerTellsWhatIsAskedFor() {
        var trust = AccessOptions.DEFAULT.withGateway(new GatewayTrust(true, Map.of()));
        Set<String> told = new TreeSet<>();
        try (var demo = new DemoServer(ServerConfig.DEFAULT.with(trust))) {
            demo.send(demo.request("/v1/chat/completions", CHAT)
                    .header("x-llm-d-slo-ttft-ms", "60000")
                    .build());
            demo.post("/v1/chat/completions", "{}");
            DemoServer.await(
                    () -> { // an answer is counted after it has left
                        told.addAll(DeployedSeries.told(demo.get("/metrics").body()));
                        return told.contains("roselle_errors_total") && told.contains("roselle_slo_requests_total");
                    });
        }
        Set<String> asked = DeployedSeries.asked();
        asked.removeIf(name -> name.startsWith(OF_GATEWAYS));

        assertThat(asked).hasSizeGreaterThan(15);
        assertThat(told).containsAll(asked);
    }

    @Test
    void findsANameThatNobodyTells() {
        assertThat(DeployedSeries.told("# HELP roselle_a x\nroselle_a{b=\"c\"} 1\nroselle_d 2\n"))
                .containsExactly("roselle_a", "roselle_d");
    }

    @Test
    void prometheusReadsTheAlerts() throws IOException, InterruptedException {
        Assumptions.assumeTrue(
                Stream.of(System.getenv("PATH").split(":"))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "promtool"))),
                "there is no promtool");
        var promtool = new ProcessBuilder(
                        "promtool", "check", "rules", DeployedSeries.alerts().toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(promtool.waitFor()).as(said).isZero();
        assertThat(said).contains("9 rules found");
    }
}
