package roselle.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs that write code with a model, on a task whose answers are scripted: the model asks for a file to be written, and says that
 * it is done when it sees the result. What they send to others than the server is switched off, as far as they let one.
 */
@Tag("long")
final class CodingProgramsTest {
    private static final Path FOLDER = Path.of("target/clients").toAbsolutePath();
    private static final String TASK = "Write the file hello.txt.";
    private static final String TEXT = "Hello from a scripted model.";

    @TempDir
    private Path model;

    @TempDir
    private Path home;

    @TempDir
    private Path work;

    @BeforeAll
    static void install() throws Exception {
        run(Path.of("."), Map.of(), List.of("../tools/test-clients.sh", FOLDER.toString()));
    }

    private static String run(Path folder, Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        Path said = Files.createTempFile("program", ".log");
        var builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
                .redirectErrorStream(true)
                .redirectOutput(said.toFile());
        builder.environment().put("NO_PROXY", "127.0.0.1");
        builder.environment().put("no_proxy", "127.0.0.1");
        builder.environment().putAll(environment);
        Process process = builder.start();
        boolean ended = process.waitFor(900, TimeUnit.SECONDS);
        process.destroyForcibly();
        String text = Files.readString(said);
        Files.delete(said);
        assertThat(ended).as("%s ended; it said: %s", command, text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    private static String call(String tool, String arguments) {
        return "<|tool_call|>{\"name\": \"" + tool + "\", \"arguments\": " + arguments + "}";
    }

    /** An answer without thoughts, where the prompt begins some. */
    private static String said(String prompt, String answer) {
        return prompt.strip().endsWith("<|think|>") ? "<|/think|>" + answer : answer;
    }

    private static boolean hasResult(String prompt) {
        return prompt.contains("<|im_start|>tool");
    }

    @Test
    void claudeCodeWritesAFile() throws Exception {
        Path target = work.resolve("hello.txt");
        String write = call("Write", "{\"file_path\": \"" + target + "\", \"content\": \"" + TEXT + "\"}");
        try (var server = new ScriptedServer(
                model,
                prompt -> said(prompt, prompt.contains(TASK) && !hasResult(prompt) ? write : "It is written."))) {
            String said = run(
                    work,
                    Map.of(
                            "HOME", home.toString(),
                            "ANTHROPIC_BASE_URL", server.root(),
                            "ANTHROPIC_API_KEY", "none",
                            "ANTHROPIC_MODEL", "scripted",
                            "ANTHROPIC_SMALL_FAST_MODEL", "scripted",
                            "DISABLE_AUTOUPDATER", "1",
                            "DISABLE_TELEMETRY", "1",
                            "DISABLE_ERROR_REPORTING", "1",
                            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                    List.of(
                            FOLDER.resolve("node_modules/.bin/claude").toString(),
                            "-p",
                            TASK,
                            "--allowedTools",
                            "Write",
                            "--output-format",
                            "json"));

            assertThat(said).contains("It is written.");
            assertThat(target).content().contains(TEXT);
        }
    }

    @Test
    void codexWritesAFile() throws Exception {
        String shell = "printf '" + TEXT + "' > hello.txt";
        try (var server = new ScriptedServer(model, prompt -> {
            if (!prompt.contains(TASK) || hasResult(prompt)) {
                return "It is written.";
            }
            return prompt.contains("\"exec_command\"")
                    ? call("exec_command", "{\"cmd\": \"" + shell + "\"}")
                    : call("shell", "{\"command\": [\"bash\", \"-c\", \"" + shell + "\"]}");
        })) {
            String provider = "model_providers.roselle={name=\"roselle\",base_url=\"" + server.root()
                    + "/v1\",wire_api=\"responses\"}";
            String said = run(
                    work,
                    Map.of("HOME", home.toString(), "CODEX_HOME", home.toString()),
                    List.of(
                            FOLDER.resolve("node_modules/.bin/codex").toString(),
                            "exec",
                            "--skip-git-repo-check",
                            "--dangerously-bypass-approvals-and-sandbox",
                            "-c",
                            provider,
                            "-c",
                            "model_provider=\"roselle\"",
                            "-c",
                            "analytics.enabled=false",
                            "-c",
                            "web_search=\"disabled\"",
                            "-c",
                            "features.multi_agent=false",
                            "-m",
                            "scripted",
                            TASK));

            assertThat(said).contains("It is written.");
            assertThat(work.resolve("hello.txt")).hasContent(TEXT);
        }
    }
}
