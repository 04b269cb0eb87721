package roselle.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationEvent.ToolCall;

/** Our client against the SDK's server, our server against the SDK's client, each in processes of their own. */
@Tag("long")
class OtherHalvesTest {
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    private static List<String> flags(Class<?> program) {
        return List.of(
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName());
    }

    private static String command(Class<?> program) {
        return JAVA + " '" + String.join("' '", flags(program)) + "'";
    }

    private static ToolCall call(String name, String arguments) {
        return new ToolCall(0, 0, "call-1", name, arguments);
    }

    @Test
    void callsToolsOfAServer() {
        List<String> complaints = Collections.synchronizedList(new ArrayList<>());
        try (McpTools tools = McpTools.connect(List.of(command(TestServer.class)), complaints::add)) {
            assertThat(tools.forms().toString())
                    .contains("name=get_weather, description=The weather of a city.", "name=broken");
            assertThat(tools.call(call("get_weather", "{\"city\": \"Oslo\"}"))).isEqualTo("sunny in Oslo");
            assertThat(tools.call(call("get_weather", "{\"city\": "))).startsWith("error: the arguments are no JSON");
            assertThat(tools.call(call("broken", "{}"))).startsWith("error: ").contains("it is broken");
            assertThat(tools.call(call("other", "{}"))).isEqualTo("error: there is no tool other");
        }
        assertThat(complaints).contains("the test server is up");
    }

    @Test
    void twoToolsOfOneNameAreRefused() {
        String command = command(TestServer.class);
        assertThatThrownBy(() -> McpTools.connect(List.of(command, command), line -> {}))
                .isInstanceOf(McpException.class)
                .hasMessageContaining("as has a server before it");
    }

    @Test
    void offersAModel() {
        var transport = new StdioClientTransport(
                ServerParameters.builder(JAVA).args(flags(ServedDemo.class)).build(), Protocol.json());
        try (McpSyncClient client = McpClient.sync(transport)
                .jsonSchemaValidator(Protocol.noValidator())
                .initializationTimeout(Duration.ofMinutes(2))
                .requestTimeout(Duration.ofMinutes(2))
                .build()) {
            assertThat(client.initialize().serverInfo().name()).isEqualTo("roselle");
            assertThat(client.listTools().tools())
                    .singleElement()
                    .satisfies(tool -> assertThat(tool.description()).contains("the language model demo"));
            CallToolResult sum = ask(client, Map.of("prompt", "What is 12 + 30?", "temperature", 0, "max_tokens", 24));
            assertThat(text(sum)).contains("42");
            assertThat(sum.isError()).isFalse();
            Map<String, Object> schema = Map.of("enum", List.of("yes"));
            assertThat(text(ask(client, Map.of("prompt", "Is it?", "schema", schema))))
                    .isEqualTo("\"yes\"");
            CallToolResult refused = ask(client, Map.of("prompt", "Hi", "temperature", -1));
            assertThat(refused.isError()).isTrue();
            assertThat(text(refused)).contains("temperature");
        }
    }

    private static CallToolResult ask(McpSyncClient client, Map<String, Object> arguments) {
        return client.callTool(
                CallToolRequest.builder("ask").arguments(arguments).build());
    }

    private static String text(CallToolResult result) {
        return ((TextContent) result.content().getFirst()).text();
    }
}
