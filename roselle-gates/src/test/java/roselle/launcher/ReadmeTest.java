package roselle.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * README's commands, each executed as it is written, in a fresh clone of the last commit. Three are changed, and only so:
 * {@code serve} and the request to it take a port that the system chose, and {@code test}, within which this runs, is given one
 * class. The clone needs packages of Maven and Python; {@link #WANTS_THE_HUB} is what would need more, and is not executed.
 */
@Tag("long")
@DisabledOnOs(OS.WINDOWS)
final class ReadmeTest {
    private record Outcome(int status, String said) {}

    /** What README names and only a machine that reaches the Hugging Face hub can run. */
    private static final List<String> WANTS_THE_HUB = List.of("hf:ORG/MODEL");

    private static final Pattern BLOCK = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);
    private static final Pattern INLINE = Pattern.compile("`([^`\n]+)`");
    private static final Pattern ADDRESS = Pattern.compile("http://127\\.0\\.0\\.1:\\d+");

    @TempDir
    private static Path folder = Path.of("");

    private static Path clone = Path.of("");
    private static String readme = "";

    @BeforeAll
    static void cloneTheLastCommit() throws Exception {
        clone = folder.resolve("clone");
        Outcome cloned = shell(Path.of(".."), "git clone -q --no-hardlinks . '" + clone + "'");
        if (cloned.status() != 0) { // sources without their history, or of another user: what a clone would have
            Files.createDirectories(clone);
            cloned = shell(Path.of(".."), "tar -cf - --exclude=target --exclude=.git . | tar -xf - -C '" + clone + "'");
        }
        assertThat(cloned.status()).as(cloned.said()).isZero();
        readme = Files.readString(clone.resolve("README.md"));
    }

    @Test
    void startRunsLineByLine() throws Exception {
        for (String command : commands()) {
            if (command.startsWith("./roselle serve ")) {
                serveAndAsk(command);
            } else if (!command.startsWith("curl ")) {
                Outcome outcome = shell(clone, alone(command));
                assertThat(outcome.status()).as(command + ": " + outcome.said()).isZero();
                assertThat(outcome.said()).as(command).contains(expected(command));
            }
        }
    }

    /** The commands within sentences; those that a table names are asked for their help. */
    @Test
    void commandsInSentencesRun() throws Exception {
        var named = new TreeSet<String>();
        var executed = new ArrayList<String>();
        for (var found = INLINE.matcher(readme); found.find(); ) {
            String words = found.group(1);
            if (words.startsWith("source <(./roselle ")
                    || words.equals("./roselle --help")
                    || words.equals("./roselle doctor")) {
                executed.add(words);
            } else if (words.matches("(\\./)?roselle [a-z].*")) {
                named.add(words.split(" ")[1]);
            }
        }
        assertThat(executed).hasSize(3);
        assertThat(named).contains("run", "serve", "bench", "check");
        for (String command : executed) {
            Outcome outcome = shell(clone, command);
            assertThat(outcome.status()).as(command + ": " + outcome.said()).isZero();
        }
        for (String command : named) {
            Outcome outcome = shell(clone, "./roselle " + command + " --help");
            assertThat(outcome.status()).as(command + ": " + outcome.said()).isZero();
            assertThat(outcome.said()).contains("Usage: ");
        }
    }

    @Test
    void whatWantsTheHubIsKnown() {
        var wanting =
                Pattern.compile("\\bhf:\\S*?(?=`)").matcher(readme).results().map(found -> found.group());
        assertThat(wanting).containsExactlyInAnyOrderElementsOf(WANTS_THE_HUB);
    }

    @Test
    void pagesThatItNamesAreThere() {
        Pattern.compile("]\\(([^)#:]+)[^)]*\\)")
                .matcher(readme)
                .results()
                .forEach(link -> assertThat(clone.resolve(link.group(1))).exists());
    }

    /** The blocks' commands: lines, joined where a quotation goes on. */
    private static List<String> commands() {
        var commands = new ArrayList<String>();
        for (var block = BLOCK.matcher(readme); block.find(); ) {
            var command = new StringBuilder();
            for (String line : block.group(1).lines().toList()) {
                command.append(command.isEmpty() ? "" : "\n").append(line);
                if (command.chars().filter(c -> c == '\'').count() % 2 == 0) {
                    commands.add(command.toString());
                    command.setLength(0);
                }
            }
        }
        return commands;
    }

    private static String alone(String command) {
        return command.equals("./roselle test")
                ? command
                        + " -pl roselle-bom,roselle-api -am -Dtest=OneLineTest -Dsurefire.failIfNoSpecifiedTests=false"
                : command;
    }

    /** What a command must say; a command that is none of these fails until somebody has thought about it. */
    private static String expected(String command) {
        if (command.contains("story about a fox")) {
            return "fox";
        }
        if (command.contains("capital of Germany")) {
            return "Berlin";
        }
        if (command.equals("./roselle test")) {
            return "Failures: 0, Errors: 0";
        }
        throw new AssertionError("README has a command whose outcome this test does not know: " + command);
    }

    private static void serveAndAsk(String command) throws Exception {
        Process server = start(clone, "exec " + command + " --port 0");
        try (BufferedReader lines = server.inputReader(UTF_8)) {
            String address = lines.lines()
                    .map(ADDRESS::matcher)
                    .filter(found -> found.find())
                    .map(found -> found.group())
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("the server ended without an address"));
            String request = commands().stream()
                    .filter(line -> line.startsWith("curl "))
                    .findFirst()
                    .orElseThrow();
            Outcome answer = shell(clone, ADDRESS.matcher(request).replaceFirst(address) + " -sS");
            assertThat(answer.said()).contains("\"role\":\"assistant\"", "fox");
        } finally {
            server.destroy();
            assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static Outcome shell(Path where, String command) throws IOException, InterruptedException {
        Process process = start(where, command);
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Outcome(process.waitFor(), said);
    }

    private static Process start(Path where, String command) throws IOException {
        var builder = new ProcessBuilder("bash", "-c", command)
                .directory(where.toFile())
                .redirectErrorStream(true);
        builder.environment().put("ROSELLE_JAVA_HOME", System.getProperty("java.home"));
        return builder.start();
    }
}
