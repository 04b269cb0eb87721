package roselle.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.cli.Main;
import roselle.cli.ResultSchema;
import roselle.cli.report.ExitCode;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Engines from a file, of which one cannot start: Roselle and the stub as processes of their own. */
final class BenchCompareCommandTest {
    @TempDir
    private Path folder;

    @Tag("long")
    @Test
    void measuresEachEngineAndGoesOnAfterOneThatFails() throws IOException {
        Path file = Files.writeString(folder.resolve("compare.yaml"), """
                model: demo
                online:
                  trace: constant:rate=20,input=8-16,output=4
                  n: 6
                  scales: [1, 0]
                  warm-up: 2
                offline: {num-prompts: 3, input-len: 8, output-len: 4, repeats: 2}
                backends:
                  - name: missing
                    profile: vllm
                    model: elsewhere
                    python: /not/there
                  - name: other
                    profile: vllm
                  - name: ours
                    profile: roselle
                    flags: --max-sequences 8
                  - name: stub
                    profile: stub
                    flags: [--first-ms, "30"]
                """);

        int status = run("bench", "compare", file.toString(), "--output-dir", folder.toString());

        assertThat(status).isEqualTo(ExitCode.UNAVAILABLE.status());
        JsonNode online = read("online_results.json");
        assertThat(online.path("schema").asString()).isEqualTo("roselle.bench.online/1");
        assertThat(online.path("backends").get(0).path("failure").asString("")).contains("/not/there");
        assertThat(online.path("backends").get(1).path("failure").asString(""))
                .matches("the model is .*[.]gguf, and vllm reads no GGUF: name a folder of safetensors, .*");
        assertThat(online.path("runs")).hasSize(4).allSatisfy(run -> {
            assertThat(run.path("failed").asInt()).isZero();
            assertThat(run.path("output_tokens").asInt()).isEqualTo(24);
            assertThat(run.path("prompt_length_mismatches").asInt()).isZero();
            assertThat(run.path("tokens_counted_by").asString()).isEqualTo("usage");
        });
        JsonNode stub = online.path("runs").get(2);
        assertThat(stub.path("backend").asString()).isEqualTo("stub");
        assertThat(stub.path("ttft_ms").path("p50").asDouble()).isBetween(30.0, 2000.0);
        assertThat(read("offline_results.json").path("runs"))
                .extracting(run ->
                        run.path("backend").asString() + " " + run.path("path").asString())
                .containsExactly("ours in process", "ours http", "stub http");
        assertThat(ResultSchema.of("online").faults(online)).isEmpty();
        assertThat(ResultSchema.of("offline").faults(read("offline_results.json")))
                .isEmpty();
        assertThat(Files.readString(folder.resolve("online_results.md"))).contains("| TTFT p50/p90/p99 ms |");
    }

    /** An address that says it is ready and refuses every request, as one does that has another model. */
    @Test
    void saysThatAnEngineAnsweredNothing() throws IOException {
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = "{\"error\": \"no such model\"}".getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(404, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            for (int warmUp : new int[] {2, 0}) {
                Path file = Files.writeString(folder.resolve("refusing.yaml"), """
                        model: demo
                        online: {trace: "constant:rate=50,input=8,output=4", n: 3, scales: [1], warm-up: %d}
                        backends:
                          - {name: refusing, profile: openai, prompts: ids, url: "http://127.0.0.1:%d"}
                        """.formatted(
                                warmUp, server.getAddress().getPort()));

                int status = run("bench", "compare", file.toString(), "--output-dir", folder.toString());

                assertThat(status).isEqualTo(ExitCode.UNAVAILABLE.status());
                assertThat(read("online_results.json")
                                .path("backends")
                                .get(0)
                                .path("failure")
                                .asString(""))
                        .contains(warmUp > 0 ? "none of 2 requests to warm up" : "none of 3 requests of all runs")
                        .contains("status 404", "no such model");
            }
        } finally {
            server.stop(0);
        }
    }

    /** The only file of results there is has the reason. */
    @Test
    void saysInOfflineResultsWhyAnEngineDidNotStart() throws IOException {
        Path file = Files.writeString(folder.resolve("offline.yaml"), """
                model: demo
                offline: {num-prompts: 2, input-len: 4, output-len: 2, repeats: 1}
                backends: [{name: missing, profile: llamacpp, command: /not/there}]
                """);

        assertThat(run("bench", "compare", file.toString(), "--output-dir", folder.toString()))
                .isEqualTo(ExitCode.UNAVAILABLE.status());
        JsonNode failure = read("offline_results.json").path("failures").get(0);
        assertThat(failure.path("backend").asString("")).isEqualTo("missing");
        assertThat(failure.path("failure").asString("")).contains("/not/there");
    }

    /** The stub is none of the engines that record: the manifest says so, and the figures stay. */
    @Tag("long")
    @Test
    void saysWhyThereIsNoProfile() throws IOException {
        Path file = Files.writeString(folder.resolve("profile.yaml"), """
                model: demo
                online: {trace: "constant:rate=50,input=8,output=4", n: 3, scales: [1], warm-up: 0}
                backends:
                  - {profile: sglang, command: ["{roselle}", bench, stub, --port, "{port}"], health: /v1/models}
                """);

        int status = run("bench", "compare", file.toString(), "--profile", "torch", "--output-dir", folder.toString());

        assertThat(status).isEqualTo(ExitCode.OK.status());
        assertThat(read("online_results.json").path("runs")).hasSize(1);
        JsonNode profile =
                read("profiles/profile_manifest.json").path("profiles").get(0);
        assertThat(profile.path("files")).isEmpty();
        assertThat(profile.path("note").asString("")).contains("torch");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            backend: [stub]                                  | line 2: backend is not known here
            backends: [stubb]                                | line 2: there is no profile stubb
            backends:                                        | line 2: backends has none
            backends: [stub, stub]                           | line 2: there are two of the same name, stub
            backends: [{profile: stub, timeout: soon}]       | line 2: timeout is soon: it must be a whole number
            backends: [{profile: stub, timeout: 0}]          | line 2: timeout is 0
            backends: [{profile: stub, gpus: -1}]            | line 2: gpus is -1
            backends: [{profile: stub, prefix-cache: yes}]   | line 2: prefix-cache is yes: it must be true or false
            backends: [{profile: stub, prompts: words}]      | line 2: prompts is words: it must be ids or text
            backends: [{profile: stub, skip: onlin}]         | line 2: skip is onlin
            backends: [{profile: stub, health: ready}]       | line 2: health is ready
            backends: [{profile: stub, url: 'http://a b'}]   | line 2: http://a b is no address
            backends: [{profile: stub, url: 'https://a'}]    | line 2: the endpoint is https://a
            backends: [triton]                               | line 2: triton is not started here
            backends: [{profile: stub, url: 'http://h', command: a}] | line 2: there are url
            backends: [{profile: stub, headers: [a]}]        | line 2: headers has to be a map
            backends: [{profil: stub}]                       | line 2: profil is not known here
            backends: [{name: a}]                            | line 2: a backend has no profile
            backends: [{profile: [stub]}]                    | line 2: profile has to be a single value
            """)
    void namesTheLineOfWhatIsWrongWithABackend(String line, String complaint) throws IOException {
        assertThat(complaint("model: demo\n" + line + "\n")).contains("wrong.yaml, " + complaint);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            pace: 3                                          | line 4: pace is not known in online: there are articles,
            n: many                                          | line 4: online: Invalid value for option '--n'
            scales: [0.4, fast]                              | line 4: online: Invalid value for option '--scales'
            articles: maybe                                  | line 4: articles is maybe: it must be true or false
            n: {a: 1}                                        | line 4: n has to be a list
            """)
    void namesTheLineOfWhatIsWrongWithAnOption(String line, String complaint) throws IOException {
        assertThat(complaint("model: demo\nonline:\n  warm-up: 1\n  " + line + "\nbackends: [stub]\n"))
                .contains("wrong.yaml, " + complaint);
    }

    /** What is false anyhow may be said. */
    @Test
    void takesFalseForEveryFlag() throws IOException {
        Path file = Files.writeString(
                folder.resolve("false.yaml"), """
                model: demo
                online: {trace: "constant:rate=50,input=8,output=4", n: 3, scales: [1], warm-up: 0, articles: false,
                  same-prompts: false, ignore-eos: false}
                backends: [{profile: stub, gpus: 2, prefix-cache: false}]
                """.replace("articles: false,\n  ", "articles: false, "));

        assertThat(run("bench", "compare", file.toString(), "--output-dir", folder.toString()))
                .isEqualTo(ExitCode.OK.status());
        JsonNode results = read("online_results.json");
        assertThat(results.path("workload").path("ignore_eos").asBoolean(true)).isFalse();
        assertThat(results.path("workload").path("same_prompts_in_all_runs").asBoolean(true))
                .isFalse();
        assertThat(results.path("backends").get(0).path("gpus").asInt()).isEqualTo(2);
    }

    private String complaint(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("wrong.yaml"), text);
        var err = new StringWriter();
        String[] arguments = {"bench", "compare", file.toString(), "--output-dir", folder.toString()};
        var command = Main.commandLine(arguments).setErr(new PrintWriter(err));
        assertThat(command.execute(arguments)).isEqualTo(ExitCode.BAD_DATA.status());
        return err.toString();
    }

    private JsonNode read(String name) throws IOException {
        return new JsonMapper().readTree(Files.readAllBytes(folder.resolve(name)));
    }

    private static int run(String... arguments) {
        var out = new StringWriter();
        return Main.commandLine(arguments).setOut(new PrintWriter(out)).execute(arguments);
    }
}
