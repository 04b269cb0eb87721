package roselle.mcp;

import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import roselle.api.CapacityException;
import roselle.api.DeviceException;
import roselle.api.InvalidRequestException;
import roselle.engine.Engine;

/**
 * A model as an MCP server over two streams: one tool, {@code ask}, whose calls share the engine's batch.
 *
 * <p>The protocol has no word for models, so a model is what other servers' functions are: something that is called with arguments and
 * answers with text.
 */
public final class McpModelServer {
    private McpModelServer() {}

    /**
     * Answers until the client closes its side of the connection.
     *
     * @param model what the tool's description calls the model
     * @param in what the client writes, a message a line
     * @param out what it reads; nobody else may write there
     */
    public static void serve(Engine engine, String model, InputStream in, OutputStream out) {
        var end = new CountDownLatch(1);
        var transport = new StdioServerTransportProvider(Protocol.json(), new Watched(in, end), out);
        McpSyncServer server = McpServer.sync(transport)
                .serverInfo(Protocol.us())
                .jsonSchemaValidator(Protocol.noValidator())
                .validateToolInputs(false)
                .capabilities(ServerCapabilities.builder().tools(false).build())
                .toolCall(tool(model), (client, call) -> answer(engine, call))
                .build();
        try {
            end.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            server.closeGracefully();
        }
    }

    private static Tool tool(String model) {
        Map<String, Object> properties = Map.of(
                "prompt", Map.of("type", "string", "description", "What to answer."),
                "system", Map.of("type", "string", "description", "What the model is told before."),
                "temperature", Map.of("type", "number", "minimum", 0, "description", "0 for the likeliest answer."),
                "max_tokens", Map.of("type", "integer", "minimum", 1, "description", "The longest answer."),
                "seed", Map.of("type", "integer", "description", "The same seed gives the same answer."),
                "schema", Map.of("type", "object", "description", "A JSON schema that the answer is held to."));
        return Tool.builder(
                        "ask",
                        Map.of(
                                "type",
                                "object",
                                "properties",
                                properties,
                                "required",
                                List.of("prompt"),
                                "additionalProperties",
                                false))
                .description("Ask the language model " + model + ", which runs on this machine.")
                .build();
    }

    private static CallToolResult answer(Engine engine, CallToolRequest call) {
        try {
            var request = AskArguments.read(call.arguments() == null ? Map.of() : call.arguments());
            try (var generation = engine.submit(request)) {
                return CallToolResult.builder()
                        .addTextContent(generation.text())
                        .isError(false)
                        .build();
            }
        } catch (InvalidRequestException | CapacityException | DeviceException failure) {
            return CallToolResult.builder()
                    .addTextContent(String.valueOf(failure.getMessage()))
                    .isError(true)
                    .build();
        }
    }

    /** Tells when a stream has come to its end, which the SDK keeps to itself. */
    private static final class Watched extends FilterInputStream {
        private final CountDownLatch end;

        Watched(InputStream in, CountDownLatch end) {
            super(in);
            this.end = end;
        }

        @Override
        public int read() throws IOException {
            return seen(in.read());
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            try {
                return seen(in.read(bytes, offset, length));
            } catch (IOException failure) {
                end.countDown();
                throw failure;
            }
        }

        private int seen(int read) {
            if (read < 0) {
                end.countDown();
            }
            return read;
        }

        @Override
        public void close() throws IOException {
            end.countDown();
            super.close();
        }
    }
}
