package roselle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jline.reader.Candidate;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.Parser;
import org.jline.reader.impl.DefaultParser;
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
        assertThat(talk("/help").lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(80));
        assertThat(talk("/hlep")).contains("there is no /hlep");
        assertThat(talk("/stats")).contains("no answer yet");
        assertThat(talk("/save")).contains("needs the name of a file");
        assertThat(talk("/save " + folder)).contains(folder + " cannot be written");
        assertThat(talk("/help").lines().filter(line -> line.startsWith("/")).map(line -> line.split(" ")[0]))
                .as("what is told is what is completed, and all of it is known")
                .containsExactlyElementsOf(SessionCommand.words())
                .allSatisfy(word -> assertThat(talk(word)).doesNotContain("there is no"));
    }

    @Test
    void goesOnWithWhatWasSaved() throws IOException {
        Path file = folder.resolve("saved.json");
        Path later = folder.resolve("later.json");
        talk("/system Be brief.", "Hello", "/save " + file);
        assertThat(talk("/load " + file, "/save " + later, "/reset", "/save " + folder.resolve("reset.json")))
                .contains("3 messages");
        assertThat(later).hasSameTextualContentAs(file);
        assertThat(folder.resolve("reset.json")).content().contains("Be brief.").doesNotContain("Hello");

        Files.writeString(later, "[{\"role\": \"user\"}]");
        assertThat(talk("/load " + later))
                .contains("later.json is no saved conversation: message 0 has no role and content");
        assertThat(talk("/load " + folder.resolve("nowhere"))).contains("cannot be read");
        assertThat(talk("/load")).contains("needs the name of a file");
    }

    @Test
    void writesTheLastAnswerAgainAsIsSetNow() throws IOException {
        Path file = folder.resolve("saved.json");
        talk("Hello", "/set max-tokens 3", "/regenerate", "/stats", "/save " + file);
        JsonNode saved = JsonMapper.shared().readTree(Files.readString(file));
        assertThat(saved.findValuesAsString("role")).containsExactly("user", "assistant");
        assertThat(talk("Hello", "/set max-tokens 3", "/regenerate", "/stats")).contains("answer     3 tokens");
        assertThat(talk("/regenerate")).contains("no answer yet");
    }

    @Test
    void setsWhatRunHasOptionsFor() {
        assertThat(talk("/set temperature 0.5", "/set top-k 7", "/set presence-penalty -1", "/set stop a b", "/set"))
                .containsPattern("temperature +0.5")
                .containsPattern("top-k +7")
                .containsPattern("presence-penalty +-1.0")
                .containsPattern("stop +a b")
                .containsPattern("max-tokens +12\\R");
        assertThat(talk("/set temperature 0.5", "/set temperature", "/set")).containsPattern("temperature +0.0");
        assertThat(talk("/set temperature 101", "/set"))
                .contains("temperature is 101")
                .containsPattern("temperature +0.0");
        assertThat(talk("/set temperature hot")).contains("'hot' is not a number");
        assertThat(talk("/set n 2")).contains("there is no n to set: there are temperature, ");
        assertThat(talk("/set think on")).contains("knows no enable_thinking");
    }

    @Test
    void beginsAnewOnAnEmptyScreen() throws IOException {
        Path file = folder.resolve("saved.json");
        assertThat(talk("Hello", "/clear", "/save " + file)).endsWith("<cleared>");
        assertThat(Files.readString(file).strip()).isEqualTo("[ ]");
    }

    @Test
    void completesCommandsNamesAndFilesButNoWords() throws IOException {
        Files.writeString(folder.resolve("tale.json"), "[]");
        assertThat(completed("/l")).contains("/load", "/set").doesNotContain("temperature");
        assertThat(completed("/set te")).contains("temperature", "think").doesNotContain("n", "logprobs");
        assertThat(completed("/load " + folder + "/t")).contains(folder + "/tale.json", folder + "/model/");
        assertThat(completed("/load " + folder + "/nowhere/t")).isEmpty();
        assertThat(completed("tell /l")).isEmpty();
    }

    private static List<String> completed(String typed) {
        var candidates = new ArrayList<Candidate>();
        var parsed = new DefaultParser().parse(typed, typed.length(), Parser.ParseContext.COMPLETE);
        new SessionCompleter().complete(LineReaderBuilder.builder().build(), parsed, candidates);
        return candidates.stream().map(Candidate::value).toList();
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
        var console = new ScriptedConsole(List.of("Hello", "/save " + file));
        console.interrupt();
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
        var console = new ScriptedConsole(List.of("What is 12 + 30?", "/save " + file));
        Requests thinking = new Requests(
                SamplingParameters.GREEDY,
                new StopConditions(100, 0, List.of(), Set.of(), false),
                OutputOptions.DEFAULT,
                Optional.of(true),
                ResponseFormat.TEXT,
                "",
                List.of());
        try (var demo = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(folder)))) {
            new ChatSession(demo, thinking, false, Optional.empty(), console).run();
        }
        JsonNode saved = JsonMapper.shared().readTree(Files.readString(file));
        String answer = saved.get(1).get("content").stringValue();
        assertThat(answer).contains("42").doesNotContain("---");
        assertThat(console.printed())
                .matches("(?s)--- thinks ---\n.+\n--- answers ---\n.+")
                .endsWith("\n--- answers ---\n" + answer + System.lineSeparator());
    }

    private String talk(String... lines) {
        var console = new ScriptedConsole(List.of(lines));
        new ChatSession(engine, requests(12), false, Optional.empty(), console).run();
        return console.printed();
    }

    private static Requests requests(int maxTokens) {
        var stop = new StopConditions(maxTokens, 0, List.of(), Set.of(), true);
        return new Requests(
                SamplingParameters.GREEDY,
                stop,
                OutputOptions.DEFAULT,
                Optional.empty(),
                ResponseFormat.TEXT,
                "",
                List.of());
    }
}
