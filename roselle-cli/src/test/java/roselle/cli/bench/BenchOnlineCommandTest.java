package roselle.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;
import roselle.cli.ResultSchema;
import roselle.cli.report.ExitCode;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Recorded traces whose prompts share blocks, replayed against Roselle as a process of its own. */
final class BenchOnlineCommandTest {
    private static final int BLOCK = 512;

    private static final String TRACE = """
            {"timestamp": 0, "input_length": 600, "output_length": 2, "hash_ids": [46, 47]}
            {"timestamp": 1500, "input_length": 700, "output_length": 2, "hash_ids": [46, 48]}
            {"timestamp": 3000, "input_length": 600, "output_length": 2, "hash_ids": [46, 47]}
            {"timestamp": 4500, "input_length": 512, "output_length": 2, "hash_ids": [46]}
            {"timestamp": 6000, "input_length": 900, "output_length": 2, "hash_ids": [46, 47]}
            {"timestamp": 7500, "input_length": 40, "output_length": 2, "hash_ids": [49]}
            """;

    @TempDir
    private Path folder;

    @Tag("long")
    @Test
    void findsInTheCacheWhatMooncakesTraceShares() throws IOException {
        int[] shared = {0, 512, 600, 512, 600, 0};
        int[] prompts = {600, 700, 600, 512, 900, 40};

        JsonNode results = replay("--prefix-cache", "--scales", "1");

        JsonNode workload = results.path("workload");
        assertThat(workload.path("trace_format").asString()).isEqualTo("mooncake");
        assertThat(workload.path("shared_prefix_tokens").asInt())
                .isEqualTo(Arrays.stream(shared).sum());
        JsonNode run = results.path("runs").get(0);
        assertThat(run.path("failed").asInt()).isZero();
        assertThat(run.path("prompt_tokens").asInt())
                .isEqualTo(Arrays.stream(prompts).sum());
        assertThat(run.path("prompt_length_mismatches").asInt()).isZero();
        int wholeBlocks = 4 * BLOCK - 1; // four requests share one; of a prompt of one block the last token is computed
        assertThat(run.path("cached_tokens").asInt())
                .isBetween(wholeBlocks, Arrays.stream(shared).sum());
        assertThat(ResultSchema.of("online").faults(results)).isEmpty();
    }

    @Tag("long")
    @Test
    void findsNothingWithTheCacheOff() throws IOException {
        JsonNode run = replay("--scales", "0.2").path("runs").get(0);

        assertThat(run.path("failed").asInt()).isZero();
        assertThat(run.path("cached_tokens").asInt()).isZero();
    }

    @Test
    void refusesVariantsOfAnEngineThatRunsAlready() {
        var err = new StringWriter();
        String[] arguments = {
            "bench",
            "online",
            "--vocabulary",
            "9",
            "--backends",
            "roselle=http://h:1",
            "--variant",
            "a:",
            "--variant",
            "b:"
        };

        int status = Main.commandLine(arguments).setErr(new PrintWriter(err)).execute(arguments);

        assertThat(status).isEqualTo(ExitCode.USAGE.status());
        assertThat(err.toString()).contains("http://h:1 runs already");
    }

    private JsonNode replay(String... further) throws IOException {
        Path trace = Files.writeString(folder.resolve("trace.jsonl"), TRACE);
        String[] arguments = Stream.concat(
                        Stream.of("bench", "online", "--model", "demo", "--trace", trace.toString(), "--prompt-mode"),
                        Stream.concat(
                                Stream.of(
                                        "trace",
                                        "--max-output-len",
                                        "2",
                                        "--warm-up", // the first prompt of a start may take until the second comes
                                        "2",
                                        "--output-dir",
                                        folder.toString()),
                                Arrays.stream(further)))
                .toArray(String[]::new);
        var out = new StringWriter();
        int status = Main.commandLine(arguments).setOut(new PrintWriter(out)).execute(arguments);
        assertThat(status).as(out.toString()).isZero();
        return new JsonMapper().readTree(Files.readAllBytes(folder.resolve("online_results.json")));
    }
}
