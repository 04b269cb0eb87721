package roselle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.OutputOptions;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.api.StopConditions;
import roselle.cli.Main;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import roselle.mcp.McpTools;

/** The demo model calls a tool of an MCP server, in one answer and in a conversation. */
@Tag("long")
final class RunToolsTest {
    private static final String QUESTION = "What is the weather in Oslo?";

    @TempDir
    private Path folder;

    private static String server() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return java + " -XX:TieredStopAtLevel=1 -cp '" + System.getProperty("java.class.path") + "' "
                + WeatherServer.class.getName();
    }

    @Test
    void showsCallsAndGoesOnWithTheirResults() {
        String[] arguments = {
            "run", "demo", "--mcp", server(), "--mcp-allow", "--temperature", "0", "--max-tokens", "60", QUESTION
        };
        var out = new StringWriter();
        var err = new StringWriter();
        int status = Main.commandLine(arguments)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
        assertThat(err.toString()).isEmpty();
        assertThat(status).isZero();
        assertThat(out.toString())
                .contains("--- calls get_weather {\"city\": \"Oslo\"} ---")
                .contains("{\"temperature\": 21, \"sky\": \"sunny\"}\n--- end of get_weather ---\n")
                .endsWith(".\n")
                .containsPattern("end of get_weather ---\n.+");
    }

    @Test
    void asksBeforeACallAndTellsTheModelOfARefusal() throws IOException {
        try (var engine = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(folder)));
                var tools = McpTools.connect(List.of(server()), line -> {})) {
            assertThat(talk(engine, tools, QUESTION, "y"))
                    .contains(ToolFlags.QUESTION + "{\"temperature\": 21, \"sky\": \"sunny\"}\n");
            assertThat(talk(engine, tools, QUESTION, "n", "/regenerate"))
                    .contains(ToolFlags.QUESTION)
                    .doesNotContain("sunny\"}");
        }
    }

    private static String talk(Engine engine, McpTools tools, String... lines) {
        var console = new ScriptedConsole(List.of(lines));
        var requests = new Requests(
                SamplingParameters.GREEDY,
                new StopConditions(60, 0, List.of(), Set.of(), false),
                OutputOptions.DEFAULT,
                Optional.empty(),
                ResponseFormat.TEXT,
                "",
                tools.forms());
        var session = new ChatSession(engine, requests, false, Optional.empty(), console);
        session.use(tools, false);
        session.run();
        return console.printed();
    }
}
