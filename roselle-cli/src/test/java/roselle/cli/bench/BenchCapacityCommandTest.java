package roselle.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;
import roselle.cli.ResultSchema;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class BenchCapacityCommandTest {
    @TempDir
    private Path folder;

    /** The stub answers at any rate, 2 ms after each request: within 2 s always, within a microsecond never. */
    @Tag("long")
    @Test
    void saysAtLeastOrNothingWhereNoLimitIsFound() throws IOException {
        JsonNode all = capacity("2000", 4);
        JsonNode none = capacity("0.001", 2);

        JsonNode found = all.path("capacities").get(0);
        assertThat(found.path("is_at_least").asBoolean()).isTrue();
        assertThat(found.path("requests_per_second").asDouble()).isEqualTo(400);
        assertThat(found.path("half_width").asDouble()).isZero();
        assertThat(all.path("probes")).hasSize(8);
        assertThat(none.path("capacities").get(0).path("requests_per_second").asDouble())
                .isZero();
        assertThat(ResultSchema.of("capacity").faults(all)).isEmpty();
        assertThat(ResultSchema.of("capacity").faults(none)).isEmpty();
    }

    private JsonNode capacity(String limitMillis, int probes) throws IOException {
        var out = new StringWriter();
        String[] arguments = {
            "bench",
            "capacity",
            "--backends",
            "stub",
            "--model",
            "demo",
            "--output-dir",
            folder.toString(),
            "--trace",
            "constant:rate=1,input=4,output=2",
            "--start-rate",
            "50",
            "--probe-seconds",
            "0.1",
            "--probe-requests",
            "20",
            "--searches",
            "2",
            "--warm-up",
            "2",
            "--slo-ttft-ms",
            limitMillis,
            "--slo-tbt-ms",
            "2000",
            "--max-probes",
            Integer.toString(probes),
            "--engine-flags",
            "--first-ms 2 --gap-ms 1"
        };
        int status = Main.commandLine(arguments).setOut(new PrintWriter(out)).execute(arguments);
        assertThat(status).as(out.toString()).isZero();
        return new JsonMapper().readTree(Files.readAllBytes(folder.resolve("capacity_results.json")));
    }
}
