package roselle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;
import tools.jackson.databind.json.JsonMapper;

/** A conversation in a real terminal, which {@code script} of util-linux provides. */
@Tag("long")
class TerminalStartTest {
    private static final Path SCRIPT = Path.of("/usr/bin/script");
    private static final String PROMPT = "> ";
    private static final String CONTROL_C = "\u0003";

    @TempDir
    private Path folder;

    @BeforeAll
    static void requireScript() {
        assumeTrue(Files.isExecutable(SCRIPT), "script of util-linux is not there");
    }

    /** A program in a terminal, with the keys that a user presses and the screen that they read. */
    private static final class Conversation implements AutoCloseable {
        private final Process process;
        private final OutputStream keys;
        private final Reader screen;
        private final StringBuilder seen = new StringBuilder();
        private int asked;

        Conversation(Process process) {
            this.process = process;
            keys = process.getOutputStream();
            screen = new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8);
        }

        void press(String text) throws IOException {
            keys.write(text.getBytes(StandardCharsets.UTF_8));
            keys.flush();
        }

        /** Reads on until the screen ends with {@code wanted} or the program has ended; returns what it read. */
        String readUntil(String wanted) throws IOException {
            int begin = seen.length();
            int next = screen.read();
            while (next >= 0) {
                seen.append((char) next);
                int from = seen.length() - wanted.length();
                if (from >= begin && seen.substring(from).equals(wanted)) {
                    break;
                }
                next = screen.read();
            }
            assertThat(next)
                    .as("the end instead of <%s> after:%n%s", wanted, seen)
                    .isNotNegative();
            return seen.substring(begin);
        }

        void read(int characters) throws IOException {
            for (int i = 0; i < characters; i++) {
                int next = screen.read();
                assertThat(next).as("the end after:%n%s", seen).isNotNegative();
                seen.append((char) next);
            }
        }

        /**
         * Gives a command and returns what is on the screen when it is done. A terminal that is drawn anew shows its prompt
         * again: what comes once is the answer to the next command, one that there is not.
         */
        String ask(String command) throws IOException {
            press(command + "\r");
            String said = readUntil(PROMPT);
            String next = "/next" + ++asked;
            press(next + "\r");
            said += readUntil("there is no " + next + ": /help lists what there is");
            readUntil(PROMPT);
            return said;
        }

        /** Waits for the end and returns all that was on the screen. */
        String end(int status) throws IOException, InterruptedException {
            for (int next = screen.read(); next >= 0; next = screen.read()) {
                seen.append((char) next);
            }
            assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as("%s", seen).isEqualTo(status);
            return seen.toString();
        }

        @Override
        public void close() throws IOException {
            process.destroyForcibly();
            keys.close();
            screen.close();
        }
    }

    @Test
    @Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aConversationBeginsAndEndsWithoutAWarning() throws IOException, InterruptedException {
        try (var conversation = converse("run demo")) {
            assertThat(conversation.readUntil(PROMPT))
                    .contains("demo, 1024 tokens of context.", "/help tells what there is");
            conversation.press("/exit\r");
            assertThat(conversation.end(0).lines().filter(line -> line.contains("WARNING")))
                    .allMatch(line -> line.contains("Using incubator modules")); // which the launcher drops
        }
    }

    /** The model is kept from ending its answer: what ends it is the key. */
    @Test
    @Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void controlCStopsTheAnswerAndTheConversationGoesOn() throws IOException, InterruptedException {
        Path file = folder.resolve("saved.json");
        try (var conversation = converse("run demo --ignore-eos --context 30000")) {
            conversation.readUntil(PROMPT);
            conversation.press("Tell me a story.\r");
            conversation.read(400);
            conversation.press(CONTROL_C);
            conversation.readUntil(PROMPT);
            Matcher answer = Pattern.compile("answer +(\\d+) tokens").matcher(conversation.ask("/stats"));
            assertThat(answer.find()).isTrue();
            assertThat(Integer.parseInt(answer.group(1))).isBetween(20, 25_000);
            conversation.ask("/save " + file);
            assertThat(JsonMapper.shared().readTree(Files.readString(file)).findValuesAsString("role"))
                    .containsExactly("user", "assistant");
            conversation.ask("/system Be brief.");
            conversation.ask("/reset");
            conversation.ask("/save " + file);
            assertThat(JsonMapper.shared().readTree(Files.readString(file)).findValuesAsString("content"))
                    .containsExactly("Be brief.");
            conversation.press(CONTROL_C);
            conversation.readUntil("ends the conversation.");
            conversation.press("/exit\r");
            conversation.end(0);
        }
    }

    /** Without a yes nothing is fetched, and the hint is what it is without a terminal. */
    @Test
    @Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void offersToFetchAModelOfTheHub() throws IOException, InterruptedException {
        try (var asked = converse("run Qwen/Qwen3-0.6B hello")) {
            asked.readUntil("Fetch the model hf:Qwen/Qwen3-0.6B from the Hugging Face hub? [y/N] ");
            asked.press("n\r");
            assertThat(asked.end(66)).contains("Qwen/Qwen3-0.6B: no such file or folder; the model of that name");
        }
        try (var asked = converse("run Qwen/Qwen3-0.6B hello")) {
            asked.readUntil("[y/N] ");
            asked.press("y\r");
            assertThat(asked.end(75)).contains("asking 127.0.0.1");
        }
    }

    private Conversation converse(String arguments) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String command = "stty rows 24 cols 80; exec '" + java
                + "' --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -Xmx1g -cp '"
                + System.getProperty("java.class.path") + "' " + Main.class.getName() + " " + arguments;
        var builder = new ProcessBuilder(SCRIPT.toString(), "-qec", command, "/dev/null").redirectErrorStream(true);
        builder.environment().put("TERM", "xterm");
        builder.environment().put("XDG_STATE_HOME", folder.toString());
        builder.environment().put("HF_HOME", folder.resolve("hub").toString());
        builder.environment().put("HF_ENDPOINT", "http://127.0.0.1:1"); // where nobody answers
        return new Conversation(builder.start());
    }
}
