package roselle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jline.terminal.impl.DumbTerminal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.OutputOptions;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.api.StopConditions;
import roselle.cli.TinyModels;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.hub.BundledModel;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A conversation with a tiny model, its user following a script. */
final class ChatSessionTest {
    @TempDir
    private Path folder;

    private Engine engine;

    @BeforeEach
    void open() throws IOException {
        Path model = folder.resolve("model");
        TinyModels.copyWithTokenizer(model);
        Files.writeString(
                model.resolve("chat_template.jinja"),
                "{% for m in messages %}<{{ m.role }}:{{ m.content }}>{% endfor %}");
        engine = Engine.open(EngineConfig.of(model).with(new BatchOptions(256, 1, 64, 0, 4)));
    }

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void keepsTheConversationAndReusesItsKeysAndValues() throws IOException {
        Path file = folder.resolve("saved.json");
        String printed =
                talk("Hello there, who are you?", "And now?", "/stats", "/save " + file, "/exit", "never read");
        JsonNode saved = JsonMapper.shared().readTree(Files.readString(file));
        assertThat(saved.findValuesAsString("role")).containsExactly("user", "assistant", "user", "assistant");
        assertThat(printed)
                .startsWith(saved.get(1).get("content").stringValue())
                .contains(saved.get(3).get("content").stringValue())
                .containsPattern("[1-9]\\d* cached; first token after");
    }

    @Test
    void beginsAnewOnResetAndUnderAnotherSystemMessage() throws IOException {
        Path file = folder.resolve("saved.json");
        talk("Hello", "/reset", "/save " + file);
        assertThat(Files.readString(file).strip()).isEqualTo("[ ]");
        talk("Hello", "/system Be brief.", "/save " + file);
        assertThat(JsonMapper.shared().readTree(Files.readString(file)).findValuesAsString("content"))
                .containsExactly("Be brief.");
    }

    @Test
    void explainsItselfAndWhatItDoesNotKnow() {
        assertThat(talk("/help")).contains("/system", "/reset", "/stats", "/save", "/exit", "Ctrl-C");
        assertThat(talk("/hlep")).contains("there is no /hlep");
        assertThat(talk("/stats")).contains("no answer yet");
        assertThat(talk("/save")).contains("needs the name of a file");
        assertThat(talk("/save " + folder)).contains(folder + " cannot be written");
    }

    @Test
    void replacesWhatWasSavedAsAWhole() throws IOException {
        Path file = Files.writeString(folder.resolve("replaced.json"), "what was saved before");
        Path before = Files.createLink(folder.resolve("before.json"), file);
        talk("/save " + file);
        assertThat(Files.readString(file).strip()).isEqualTo("[ ]");
        assertThat(Files.readString(before)).isEqualTo("what was saved before"); // a write in place would be seen here
    }

    @Test
    void forgetsWhatDidNotFitAndGoesOn() throws IOException {
        Path file = folder.resolve("saved.json");
        String printed = talk("x".repeat(300), "/save " + file);
        assertThat(printed).contains("the context holds", "/reset begins anew");
        assertThat(Files.readString(file).strip()).isEqualTo("[ ]");
    }

    @Test
    void stopsTheAnswerOnInterruptAndGoesOn() throws IOException {
        Path file = folder.resolve("saved.json");
        var console = new Script(List.of("Hello", "/save " + file));
        console.interrupts = true;
        new ChatSession(engine, requests(200), false, Optional.empty(), console).run();
        JsonNode saved = JsonMapper.shared().readTree(Files.readString(file));
        assertThat(saved.findValuesAsString("role")).containsExactly("user", "assistant");
        assertThat(saved.get(1).get("content").stringValue().length()).isLessThan(200);
    }

    @Test
    void readsLinesTextsOfSeveralLinesAndTheEndFromATerminal() throws IOException {
        String typed = "one\ntwo \\\nlines\n\"\"\"\nfree\ntext\n\"\"\"\n/exit\n";
        var screen = new ByteArrayOutputStream();
        var terminal = new DumbTerminal(
                "script",
                "dumb",
                new ByteArrayInputStream(typed.getBytes(StandardCharsets.UTF_8)),
                screen,
                StandardCharsets.UTF_8);
        Path history = folder.resolve("history");
        try (var console = new TerminalConsole(terminal, history)) {
            assertThat(console.read()).contains("one");
            assertThat(console.read()).contains("two \nlines");
            assertThat(console.read()).contains("free\ntext");
            assertThat(console.read()).contains("/exit");
            assertThat(console.read()).isEmpty();
        }
        assertThat(Files.readString(history)).contains("one", "/exit");
    }

    @Test
    void showsThoughtsAndKeepsThemOutOfTheConversation() throws IOException {
        Path file = folder.resolve("saved.json");
        var console = new Script(List.of("What is 12 + 30?", "/save " + file));
        Requests thinking = new Requests(
                SamplingParameters.GREEDY,
                new StopConditions(100, 0, List.of(), Set.of(), false),
                OutputOptions.DEFAULT,
                Optional.of(true),
                ResponseFormat.TEXT,
                "");
        try (var demo = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(folder)))) {
            new ChatSession(demo, thinking, false, Optional.empty(), console).run();
        }
        JsonNode saved = JsonMapper.shared().readTree(Files.readString(file));
        String answer = saved.get(1).get("content").stringValue();
        assertThat(answer).contains("42").doesNotContain("---");
        assertThat(console.printed.toString())
                .matches("(?s)--- thinks ---\n.+\n--- answers ---\n.+")
                .endsWith("\n--- answers ---\n" + answer + System.lineSeparator());
    }

    private String talk(String... lines) {
        var console = new Script(List.of(lines));
        new ChatSession(engine, requests(12), false, Optional.empty(), console).run();
        return console.printed.toString();
    }

    private static Requests requests(int maxTokens) {
        var stop = new StopConditions(maxTokens, 0, List.of(), Set.of(), true);
        return new Requests(
                SamplingParameters.GREEDY, stop, OutputOptions.DEFAULT, Optional.empty(), ResponseFormat.TEXT, "");
    }

    /** Says one line after the other, and may press Ctrl-C as soon as that stops an answer. */
    private static final class Script implements ChatConsole {
        private final Deque<String> lines;
        private final StringWriter printed = new StringWriter();
        private boolean interrupts;

        Script(List<String> lines) {
            this.lines = new ArrayDeque<>(lines);
        }

        @Override
        public Optional<String> read() {
            return Optional.ofNullable(lines.poll());
        }

        @Override
        public PrintWriter out() {
            return new PrintWriter(printed);
        }

        @Override
        public void onInterrupt(Runnable action) {
            if (interrupts) {
                action.run();
            }
        }

        @Override
        public void close() {}
    }
}
