package roselle.cli.run;

import io.modelcontextprotocol.json.jackson3.JacksonMcpJsonMapper;
import io.modelcontextprotocol.json.schema.JsonSchemaValidator.ValidationResponse;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** An MCP server, in a process of its own, with a tool that the demo model was trained to call. */
final class WeatherServer {
    private WeatherServer() {}

    static void main() {
        var schema = new LinkedHashMap<String, Object>(); // its order is that of the model's training
        schema.put("type", "object");
        schema.put("properties", Map.of("city", Map.of("type", "string")));
        schema.put("required", List.of("city"));
        Tool weather = Tool.builder("get_weather", schema)
                .description("The weather in a city now")
                .build();
        McpServer.sync(new StdioServerTransportProvider(new JacksonMcpJsonMapper(JsonMapper.shared())))
                .jsonSchemaValidator((form, value) -> ValidationResponse.asValid(""))
                .validateToolInputs(false)
                .capabilities(ServerCapabilities.builder().tools(false).build())
                .toolCall(
                        weather,
                        (client, call) -> CallToolResult.builder()
                                .addTextContent("{\"temperature\": 21, \"sky\": \"sunny\"}")
                                .isError(false)
                                .build())
                .build();
    }
}
