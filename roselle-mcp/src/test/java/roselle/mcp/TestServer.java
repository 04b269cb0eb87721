package roselle.mcp;

import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServer.SyncSpecification;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.util.Map;

/** A server of the SDK's own with tools of the demo model's training: a command, or the tools alone for another transport. */
final class TestServer {
    private TestServer() {}

    static void main() {
        var transport = new StdioServerTransportProvider(Protocol.json());
        withTools(McpServer.sync(transport)).build();
        System.err.println("the test server is up");
    }

    static <S extends SyncSpecification<S>> S withTools(S server) {
        Tool weather = Tool.builder(
                        "get_weather",
                        Map.of(
                                "type", "object",
                                "properties", Map.of("city", Map.of("type", "string")),
                                "required", java.util.List.of("city")))
                .description("The weather of a city.")
                .build();
        Tool broken = Tool.builder("broken", Map.of("type", "object")).build();
        server.serverInfo("test", "1")
                .jsonSchemaValidator(Protocol.noValidator())
                .capabilities(ServerCapabilities.builder().tools(false).build())
                .toolCall(
                        weather,
                        (client, call) -> CallToolResult.builder()
                                .addTextContent("sunny in " + call.arguments().get("city"))
                                .isError(false)
                                .build())
                .toolCall(broken, (client, call) -> {
                    throw new IllegalStateException("it is broken");
                });
        return server;
    }
}
