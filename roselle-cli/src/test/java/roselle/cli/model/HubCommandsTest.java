package roselle.cli.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import roselle.cli.Main;
import roselle.hub.BundledModel;
import roselle.testing.LoopbackHub;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The commands over the hub as users type them: a hub on loopback has the demo model under another name. */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
class HubCommandsTest {
    private static final String NAME = "hf:org/name";
    private static final JsonMapper MAPPER = new JsonMapper();

    @TempDir
    private Path folder = Path.of("");

    private LoopbackHub hub;
    private byte[] model = new byte[0];

    @BeforeEach
    void start() throws IOException {
        model = Files.readAllBytes(BundledModel.DEMO.unpackInto(Path.of("target", "models")));
        hub = new LoopbackHub().with("name-Q8_0.gguf", model).with("README.md", "A model.");
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    private Map<String, String> environment() {
        return Map.of("HF_ENDPOINT", hub.uri().toString(), "HF_HOME", folder.toString(), "HF_TOKEN", "hf_secret");
    }

    private static String said(Object command, String... arguments) {
        var out = new StringWriter();
        int status = new CommandLine(command).setOut(new PrintWriter(out)).execute(arguments);
        assertThat(status).as(out.toString()).isZero();
        return out.toString().strip();
    }

    @Test
    void whatWasPulledIsListedShownAndRemoved() {
        JsonNode pulled = MAPPER.readTree(said(new PullCommand(environment()), "--json", NAME));
        JsonNode listed = MAPPER.readTree(said(new ListCommand(environment()), "--json"));
        JsonNode shown = MAPPER.readTree(said(new ShowCommand(environment()), "--json", NAME));

        assertThat(Path.of(pulled.at("/path").stringValue())).hasBinaryContent(model);
        assertThat(listed).as("it and the demo model").hasSize(2);
        assertThat(listed.at("/0/name").stringValue()).isEqualTo(NAME);
        assertThat(listed.at("/1/name").stringValue()).isEqualTo("demo");
        assertThat(listed.at("/0/repository").stringValue()).isEqualTo("org/name");
        assertThat(listed.at("/0/revisions/0").stringValue()).isEqualTo("main");
        assertThat(listed.at("/0/bytes").longValue()).isGreaterThanOrEqualTo(model.length);
        assertThat(shown.toString()).contains("org/name", hub.commit());
        assertThat(hub.requests())
                .allMatch(request -> request.header("Authorization").orElse("").equals("Bearer hf_secret"));

        assertThat(said(new PullCommand(environment()), "--offline", NAME))
                .isEqualTo(pulled.at("/path").stringValue());
        assertThat(said(new RemoveCommand(environment()), NAME)).startsWith("removed");
        assertThat(MAPPER.readTree(said(new ListCommand(environment()), "--json")))
                .hasSize(1);
        assertThat(folder.resolve("hub/models--org--name")).doesNotExist();
    }

    @Test
    void theModelThatComesWithRoselleIsListedAndShown() {
        assertThat(said(new ListCommand(environment())).lines().toList().getLast())
                .startsWith("demo ")
                .contains("in the jar", "7.9 MB", "gguf");
        assertThat(said(new ShowCommand(environment()), "demo"))
                .contains("demo, which comes with Roselle", "gguf", "llama");
        assertThat(Path.of(MAPPER.readTree(said(new ShowCommand(environment()), "--json", "demo"))
                        .at("/path")
                        .stringValue()))
                .hasBinaryContent(model);
    }

    // ---- as processes ----

    private Process start(String before, String... arguments) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of("sh", "-c", before + "exec \"$@\"", "sh", java));
        command.addAll(List.of(
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx1g",
                "-XX:TieredStopAtLevel=1", // they end before the optimizing compiler has paid off
                "-XX:+UseSerialGC"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("HF_") || name.startsWith("ROSELLE_"));
        builder.environment().putAll(environment());
        return builder.start();
    }

    /** What a process left: its status, and both its outputs. */
    private record End(int status, String out, String err) {
        static End of(Process process) throws IOException, InterruptedException {
            String out;
            String err;
            try (var first = process.getInputStream();
                    var second = process.getErrorStream()) {
                out = new String(first.readAllBytes(), StandardCharsets.UTF_8);
                err = new String(second.readAllBytes(), StandardCharsets.UTF_8);
            }
            return new End(process.waitFor(), out, err);
        }
    }

    @Test
    void runFetchesAfterSayingTheSizeAndThenAsksNobody() throws Exception {
        String[] command = {"run", NAME, "Tell me a story.", "--temperature=0", "--max-tokens=5"};
        End first = End.of(start("", command));
        assertThat(first.status()).as(first.err()).isZero();
        assertThat(first.err()).contains("pulling " + NAME, " MB");
        assertThat(first.out()).isNotBlank();

        int asked = hub.requests().size();
        End second =
                End.of(start("", "run", NAME, "Tell me a story.", "--temperature=0", "--max-tokens=5", "--offline"));
        assertThat(second.out()).isEqualTo(first.out());
        assertThat(hub.requests()).hasSize(asked);
    }

    @Test
    void offlineNothingIsFetched() throws Exception {
        End end = End.of(start("", "run", NAME, "x", "--offline"));

        assertThat(end.status()).isEqualTo(66);
        assertThat(end.err()).contains("offline nothing is fetched");
        assertThat(hub.requests()).isEmpty();
    }

    @Test
    void serveTakesANameOfTheHub() throws Exception {
        End config = End.of(start("", "serve", NAME, "--port=0", "--print-config"));
        assertThat(config.out()).as(config.err()).contains("port = 0");
        assertThat(hub.requests()).as("nothing is fetched to print options").isEmpty();

        Process serving = start("", "serve", NAME, "--port=0");
        try (var out = new BufferedReader(new InputStreamReader(serving.getInputStream(), StandardCharsets.UTF_8));
                var client = HttpClient.newHttpClient()) {
            String line = out.readLine();
            assertThat(line).startsWith("serving org/name at ");
            var models = HttpRequest.newBuilder(URI.create(line.substring(line.indexOf("http://")) + "/v1/models"));
            String answer = client.send(models.build(), HttpResponse.BodyHandlers.ofString())
                    .body();
            assertThat(MAPPER.readTree(answer).at("/data/0/id").stringValue()).isEqualTo("org/name");
        } finally {
            serving.destroyForcibly();
        }
    }

    @Test
    void twoProcessesFetchOneModelOnce() throws Exception {
        Process first = start("", "pull", NAME);
        Process second = start("", "pull", NAME);
        End one = End.of(first);
        End other = End.of(second);

        assertThat(one.status()).as(one.err()).isZero();
        assertThat(other.status()).as(other.err()).isZero();
        assertThat(other.out()).isEqualTo(one.out());
        assertThat(Path.of(one.out().strip())).hasBinaryContent(model);
        assertThat(hub.bodyBytes()).isLessThan(model.length + 100_000L);
    }

    @Test
    void aFullDiskIsOneSentenceAndTheNextPullGoesOn() throws Exception {
        End full = End.of(start("ulimit -f 8192; ", "pull", NAME)); // 512-byte blocks: files of 4 MiB at most

        assertThat(full.status()).as(full.err()).isEqualTo(74);
        assertThat(full.err()
                        .lines()
                        .filter(line -> line.startsWith("roselle: "))
                        .toList())
                .singleElement()
                .asString()
                .contains("cannot be written", "what was fetched is kept");

        End next = End.of(start("", "pull", NAME));
        assertThat(next.status()).as(next.err()).isZero();
        assertThat(Path.of(next.out().strip())).hasBinaryContent(model);
    }
}
