package roselle.mcp;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Content;
import io.modelcontextprotocol.spec.McpSchema.ListToolsResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import roselle.api.GenerationEvent.ToolCall;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tools of MCP servers, as requests offer them to a model and as its calls name them.
 *
 * <p>A server is a command, which runs until {@link #close}, or an address that speaks streamable HTTP. What a server says is text to the
 * model and nothing else: no tool is called here but by {@link #call}.
 */
public final class McpTools implements AutoCloseable {
    /** Results that are longer are cut, and say so. */
    static final int LONGEST_RESULT = 100_000;

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration CALL = Duration.ofMinutes(10);
    private static final int PAGES = 100;

    private record Offered(McpSyncClient server, Tool tool) {}

    private final List<McpSyncClient> servers = new ArrayList<>();
    private final Map<String, Offered> tools = new LinkedHashMap<>();

    private McpTools() {}

    /**
     * Connects to servers and asks for their tools.
     *
     * @param places each a command line, or an address that begins with {@code http://} or {@code https://}
     * @param complaints takes the lines that commands write to their standard error
     * @throws McpException if one of them cannot be reached, or two have a tool of the same name
     */
    public static McpTools connect(List<String> places, Consumer<String> complaints) {
        var tools = new McpTools();
        try {
            places.forEach(place -> tools.add(place, complaints));
            return tools;
        } catch (RuntimeException failure) {
            tools.close();
            throw failure;
        }
    }

    private void add(String place, Consumer<String> complaints) {
        McpSyncClient client = McpClient.sync(transport(place, complaints))
                .clientInfo(Protocol.us())
                .jsonSchemaValidator(Protocol.noValidator())
                .initializationTimeout(START)
                .requestTimeout(CALL)
                .build();
        servers.add(client);
        try {
            client.initialize();
            list(client, place);
        } catch (McpException failure) {
            throw failure;
        } catch (RuntimeException failure) {
            throw new McpException("the MCP server " + place + " does not answer: " + reason(failure), failure);
        }
    }

    private static McpClientTransport transport(String place, Consumer<String> complaints) {
        if (place.startsWith("http://") || place.startsWith("https://")) {
            return http(place);
        }
        List<String> words = CommandWords.of(place);
        CommandWords.requireProgram(words.getFirst());
        var transport = new StdioClientTransport(
                ServerParameters.builder(words.getFirst())
                        .args(words.subList(1, words.size()))
                        .build(),
                Protocol.json());
        transport.setStdErrorHandler(complaints);
        return transport;
    }

    private static McpClientTransport http(String address) {
        try {
            URI uri = URI.create(address);
            String path = uri.getRawPath() == null || uri.getRawPath().length() <= 1 ? "/mcp" : uri.getRawPath();
            String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
            return HttpClientStreamableHttpTransport.builder(uri.getScheme() + "://" + uri.getRawAuthority())
                    .jsonMapper(Protocol.json())
                    .endpoint(path + query)
                    .build();
        } catch (IllegalArgumentException malformed) {
            throw new McpException(address + " is no address of an MCP server: " + malformed.getMessage(), malformed);
        }
    }

    private void list(McpSyncClient client, String place) {
        String cursor = null;
        for (int page = 0; page < PAGES; page++) {
            ListToolsResult listed = cursor == null ? client.listTools() : client.listTools(cursor);
            for (Tool tool : listed.tools()) {
                if (tools.putIfAbsent(tool.name(), new Offered(client, tool)) != null) {
                    throw new McpException(place + " has a tool " + tool.name()
                            + ", as has a server before it: calls could not tell them apart");
                }
            }
            cursor = listed.nextCursor();
            if (cursor == null) {
                return;
            }
        }
        throw new McpException(place + " does not come to an end with its tools");
    }

    /** All tools, in the JSON form of OpenAI's {@code tools}, as {@link roselle.api.GenerationRequestBuilder#tool} takes them. */
    public List<Map<String, Object>> forms() {
        return tools.values().stream().map(offered -> form(offered.tool())).toList();
    }

    private static Map<String, Object> form(Tool tool) {
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", tool.name());
        if (tool.description() != null) {
            function.put("description", tool.description());
        }
        function.put("parameters", tool.inputSchema() == null ? Map.of("type", "object") : tool.inputSchema());
        Map<String, Object> form =
                new LinkedHashMap<>(); // templates print it as it stands: its order is the model's prompt
        form.put("type", "function");
        form.put("function", function);
        return form;
    }

    /**
     * Calls a tool and waits for what it says; a call that fails says why, so that the model can read it.
     *
     * @throws McpException if the server is gone
     */
    public String call(ToolCall call) {
        Offered offered = tools.get(call.name());
        if (offered == null) {
            return "error: there is no tool " + call.name();
        }
        Map<String, Object> arguments;
        try {
            arguments = JsonMapper.shared().readValue(call.arguments(), new TypeReference<Map<String, Object>>() {});
        } catch (JacksonException malformed) {
            return "error: the arguments are no JSON object: " + malformed.getOriginalMessage();
        }
        try {
            return text(offered.server()
                    .callTool(CallToolRequest.builder(call.name())
                            .arguments(arguments == null ? Map.of() : arguments)
                            .build()));
        } catch (io.modelcontextprotocol.spec.McpError refused) {
            return "error: " + reason(refused);
        } catch (RuntimeException failure) {
            throw new McpException("the MCP server of " + call.name() + " has failed: " + reason(failure), failure);
        }
    }

    /** What a result says as text; what is none is named, and what is too long is cut. */
    static String text(CallToolResult result) {
        String said = result.content() == null
                ? ""
                : result.content().stream().map(McpTools::text).collect(Collectors.joining("\n"));
        if (said.isEmpty() && result.structuredContent() != null) {
            said = JsonMapper.shared().writeValueAsString(result.structuredContent());
        }
        String whole = Boolean.TRUE.equals(result.isError()) ? "error: " + said : said;
        return whole.length() <= LONGEST_RESULT
                ? whole
                : whole.substring(0, LONGEST_RESULT) + "\n(cut: the result has " + whole.length() + " characters)";
    }

    private static String text(Content content) {
        return content instanceof TextContent text ? text.text() : "(" + content.type() + ")";
    }

    private static String reason(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return textOr(root.getMessage(), root.getClass().getSimpleName());
    }

    private static String textOr(@Nullable String text, String other) {
        return text == null || text.isBlank() ? other : text;
    }

    /** Ends the servers that are commands, and the sessions of the others. */
    @Override
    public void close() {
        servers.forEach(McpSyncClient::closeGracefully);
        servers.clear();
        tools.clear();
    }
}
