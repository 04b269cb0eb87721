package roselle.server.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static roselle.server.clients.ClientPrograms.FOLDER;
import static roselle.server.clients.ClientPrograms.run;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
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

    private static ClientServer server;

    @BeforeAll
    static void install() throws Exception {
        ClientPrograms.install();
        server = new ClientServer();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
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
        String python = ClientPrograms.python();

        assertThat(run(300, python, SCRIPTS.resolve(script).toString(), server.root()))
                .contains("passed " + last);
    }

    /** Vectors, scores and ranks, as clients of several APIs ask encoders for them. */
    @Test
    void clientsOfEncodersWork() throws Exception {
        String python = ClientPrograms.python();
        String script = SCRIPTS.resolve("encoder_client.py").toString();

        try (var encoders = new EncoderServer("bert", "bert-cross", "bert-labels")) {
            assertThat(run(300, python, script, encoders.root())).contains("passed every_published_field");
        }
    }

    /** Whatever the types of official clients can say: it is honoured, or refused by name. */
    @Test
    void everyPublishedFieldIsHonouredOrRefusedByName() throws Exception {
        String script = SCRIPTS.resolve("published_fields.py").toString();

        try (var encoders = new EncoderServer("bert", "bert-cross", "bert-labels")) {
            assertThat(run(600, ClientPrograms.python(), script, server.root(), encoders.root()))
                    .contains("passed published_fields");
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
