package roselle.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.server.EncoderServer;

/** Clients in other languages, each a script in src/test/clients; needs node, npm, python3, Maven and the network on first use. */
@Tag("long")
final class ScriptedClientsTest {
    private static final Path SCRIPTS = Path.of("src/test/clients");
    private static final Path FOLDER = Path.of("target/clients").toAbsolutePath();

    private static ClientServer server;

    @BeforeAll
    static void install() throws Exception {
        run(900, "../tools/test-clients.sh", FOLDER.toString());
        server = new ClientServer();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    /** Runs a program; its failure is the test's. */
    private static String run(int seconds, String... command) throws IOException, InterruptedException {
        Path said = Files.createTempFile("client", ".log");
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
        builder.environment().put("NO_PROXY", "127.0.0.1"); // the server is here, whatever fetches packages
        builder.environment().put("no_proxy", "127.0.0.1");
        Process process = builder.start();
        boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
        process.destroyForcibly();
        String text = Files.readString(said, StandardCharsets.UTF_8);
        Files.delete(said);
        assertThat(ended).as("%s ended; it said: %s", List.of(command), text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    @Test
    void theOpenApiDocumentIsValid() throws Exception {
        String python = FOLDER.resolve("venv/bin/python").toString();

        assertThat(run(
                        300,
                        python,
                        "-m",
                        "openapi_spec_validator",
                        document(false).toString()))
                .contains("OK");
    }

    /** Requests made up from the document, right ones and wrong ones: no defect, and every answer is as the document says. */
    @Test
    void nothingThatTheDocumentAllowsOrForbidsSurprisesTheServer() throws Exception {
        String said = run(
                600,
                "sh",
                "-c",
                "cd \"$0\" && exec venv/bin/schemathesis \"$@\"", // it leaves folders where it runs
                FOLDER.toString(),
                "run",
                document(true).toString(),
                "--url",
                server.root(),
                "--exclude-path",
                "/sleep", // behind which the others answer 503, as they should
                "--phases",
                "coverage,fuzzing",
                "--exclude-checks",
                "positive_data_acceptance", // fields that exclude each other are refused, though each is right
                "--max-time",
                "45",
                "--request-timeout",
                "180", // an answer may fill the context, on a machine that does other things, too
                "--seed",
                "7",
                "--continue-on-failure",
                "--no-color");

        assertThat(said).contains("Seed: 7");
    }

    /** The served document in a file; without limits of thousands of elements, whose edges are bodies of megabytes, if asked. */
    private static Path document(boolean isForFuzzing) throws IOException {
        var request = HttpRequest.newBuilder(URI.create(server.root() + "/openapi.json"));
        try (var client = HttpClient.newHttpClient()) {
            String served = client.send(request.build(), HttpResponse.BodyHandlers.ofString())
                    .body();
            Path file = FOLDER.resolve(isForFuzzing ? "fuzzed.json" : "openapi.json");
            return Files.writeString(
                    file, isForFuzzing ? served.replaceAll(",?\"max(Items|Properties)\":\\d{3,}", "") : served);
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    /** A module finds what it imports beside itself. */
    @ParameterizedTest
    @CsvSource({
        "openai_client.mjs, responsesStreaming",
        "openai_zod.mjs, streamingToolRunner",
        "ai_client.mjs, cancellation",
        "anthropic_client.mjs, cancellation",
        "ollama_client.mjs, aiSdkObject"
    })
    void javaScriptClientsWork(String script, String last) throws Exception {
        Path copy = Files.copy(SCRIPTS.resolve(script), FOLDER.resolve(script), StandardCopyOption.REPLACE_EXISTING);

        assertThat(run(300, "node", copy.toString(), server.root())).contains("passed " + last);
    }

    @ParameterizedTest
    @CsvSource({
        "openai_client.py, files_and_batches",
        "anthropic_client.py, every_published_field",
        "ollama_client.py, every_published_field",
        "tgi_client.py, every_published_field",
        "kserve_client.py, every_input_of_the_metadata",
        "kserve_grpc_client.py, errors"
    })
    void pythonClientsWork(String script, String last) throws Exception {
        String python = FOLDER.resolve("venv/bin/python").toString();

        assertThat(run(300, python, SCRIPTS.resolve(script).toString(), server.root()))
                .contains("passed " + last);
    }

    /** Vectors, scores and ranks, as clients of several APIs ask encoders for them. */
    @Test
    void clientsOfEncodersWork() throws Exception {
        String python = FOLDER.resolve("venv/bin/python").toString();
        String script = SCRIPTS.resolve("encoder_client.py").toString();

        try (var encoders = new EncoderServer("bert", "bert-cross", "bert-labels")) {
            assertThat(run(300, python, script, encoders.root())).contains("passed every_published_field");
        }
    }

    /** Structured output and tools, as frameworks of Python ask for them by default. */
    @Test
    void frameworksGetWhatTheyAskFor() throws Exception {
        String python = FOLDER.resolve("frameworks/bin/python").toString();

        assertThat(run(600, python, SCRIPTS.resolve("frameworks.py").toString(), server.root()))
                .contains("passed litellm_completes_with_a_response_format");
    }

    /**
     * What frameworks of Java ask for by default, in words, of a model that was made for words: its template knows no tools, so that it
     * makes calls where it must, in a format of one call, since in one of many it goes on calling.
     */
    @Test
    void aRealModelAnswersWhatIsAskedForInWords() throws Exception {
        Path file = Path.of(run(300, "../tools/smollm2.sh").strip());
        var model = EngineConfig.of(file)
                .with(new BatchOptions(2048, 4, 512, 0, 64))
                .withToolParser("llama3_json");

        try (var real = new ClientServer("smollm2", model)) {
            assertThat(java("langchain4j", "LangChain4jClient", real.root(), "smollm2", "default"))
                    .contains("passed answersWhereToolsMayBeCalled");
            assertThat(java("spring-ai", "SpringAiClient", real.root(), "smollm2", "default"))
                    .contains("passed answersWhereToolsMayBeCalled");
        }
    }

    /** Entities, answers of types and tools, as frameworks of Java ask for them, and clients of APIs. */
    @ParameterizedTest
    @CsvSource({
        "spring-ai, SpringAiClient, streamsTools",
        "langchain4j, LangChain4jClient, streamsTools",
        "anthropic-java, AnthropicClient, tellsErrors",
        "ollama4j, OllamaClient, tellsErrors"
    })
    void javaClientsGetWhatTheyAskFor(String folder, String client, String last) throws Exception {
        assertThat(java(folder, client, server.root())).contains("passed " + last);
    }

    /** Compiles and runs a client in Java. */
    private static String java(String folder, String client, String... arguments) throws Exception {
        Path installed = FOLDER.resolve(folder);
        String libraries = Files.readString(installed.resolve("classpath")).strip();
        Path java = Path.of(System.getProperty("java.home"), "bin");
        String source = SCRIPTS.resolve(folder).resolve(client + ".java").toString();
        run(
                300,
                java.resolve("javac").toString(),
                "-parameters", // their names are the tools'
                "-cp",
                libraries,
                "-d",
                installed.toString(),
                source);
        List<String> command = new ArrayList<>(
                List.of(java.resolve("java").toString(), "-cp", installed + File.pathSeparator + libraries, client));
        command.addAll(List.of(arguments));
        return run(300, command.toArray(String[]::new));
    }

    static Stream<String> curls() throws IOException {
        List<String> blocks = new ArrayList<>();
        for (String page : List.of(
                "../README.md",
                "../docs/guide/serving.md",
                "../docs/guide/anthropic.md",
                "../docs/guide/ollama.md",
                "../docs/guide/llamacpp.md",
                "../docs/guide/tgi.md",
                "../docs/guide/kserve.md")) {
            String[] fenced = Files.readString(Path.of(page)).split("```");
            for (int block = 1; block < fenced.length; block += 2) {
                if (fenced[block].startsWith("sh\n") && fenced[block].contains("curl http://127.0.0.1:8000")) {
                    blocks.add(fenced[block].substring("sh\n".length()));
                }
            }
        }
        assertThat(blocks).hasSizeGreaterThan(7);
        return blocks.stream();
    }

    @ParameterizedTest
    @MethodSource("curls")
    void everyCurlOfTheGuideWorksAsItStands(String block) throws Exception {
        String strict = "set -e\ncurl() { command curl -fsS \"$@\"; }\n";

        String said = run(300, "sh", "-c", strict + block.replace("http://127.0.0.1:8000", server.root()));

        assertThat(said).isNotBlank().doesNotContain("\"error\":{\"message\"", "{\"error\":\"");
    }

    @ParameterizedTest
    @CsvSource({"--http1.1, 1.1", "--http2, 2", "--http2-prior-knowledge, 2"})
    void curlSpeaksEveryVersion(String option, String version) throws Exception {
        String said = run(
                300,
                "curl",
                "-sS",
                option,
                "-w",
                "\nversion %{http_version} %{http_code}",
                server.root() + "/v1/models");

        assertThat(said).contains("\"id\":\"demo\"").endsWith("version " + version + " 200");
    }
}
