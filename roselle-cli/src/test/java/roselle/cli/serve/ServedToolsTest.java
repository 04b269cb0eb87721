package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.cli.Main;

/** A process that serves has the tools of an MCP server, and ends it with itself. */
@Tag("long")
final class ServedToolsTest {
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private static final String WEATHER = JAVA + " -XX:TieredStopAtLevel=1 -cp '"
            + System.getProperty("java.class.path") + "' roselle.cli.run.WeatherServer";

    private static Process serve() throws IOException {
        return new ProcessBuilder(
                        JAVA,
                        "--add-modules",
                        "jdk.incubator.vector",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "serve",
                        "demo",
                        "--port",
                        "0",
                        "--context",
                        "512",
                        "--mcp",
                        WEATHER)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static String ask(HttpRequest.Builder request) throws IOException, InterruptedException {
        try (var client = HttpClient.newHttpClient()) {
            return client.send(request.build(), BodyHandlers.ofString()).body();
        }
    }

    @Test
    void callsTheToolsThatItWasStartedWith() throws IOException, InterruptedException {
        Process process = serve();
        List<ProcessHandle> tools = new ArrayList<>();
        try (var said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line = said.readLine();
            assertThat(line).startsWith("serving demo at ");
            URI uri = URI.create(line.substring("serving demo at ".length()) + "/page/tools");
            process.children().forEach(tools::add);
            assertThat(tools).isNotEmpty();
            assertThat(ask(HttpRequest.newBuilder(uri))).contains("\"name\":\"get_weather\"");
            String call = "{\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\": \\\"Oslo\\\"}\"}";
            assertThat(ask(HttpRequest.newBuilder(uri)
                            .header("content-type", "application/json")
                            .POST(BodyPublishers.ofString(call))))
                    .contains("{\\\"temperature\\\": 21, \\\"sky\\\": \\\"sunny\\\"}");
            process.destroy(); // the signal that ends services
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        for (ProcessHandle tool : tools) {
            tool.onExit().orTimeout(2, TimeUnit.MINUTES).join();
        }
    }

    @Test
    void aServerWithoutItsToolsDoesNotBegin() {
        String[] arguments = {"serve", "demo", "--port", "0", "--mcp", "/no/such/server"};
        var err = new StringWriter();
        int status = Main.commandLine(arguments).setErr(new PrintWriter(err)).execute(arguments);
        assertThat(status).isEqualTo(69);
        assertThat(err.toString()).contains("the MCP server /no/such/server cannot be started");
    }

    @Test
    void linesOfSettingsAreServers() {
        String[] arguments = {"serve", "demo", "--mcp", "a b", "--mcp", "http://c", "--print-config"};
        var out = new StringWriter();
        Main.commandLine(arguments).setOut(new PrintWriter(out)).execute(arguments);
        assertThat(out.toString()).contains("mcp = a b\\nhttp://c\n");
    }
}
