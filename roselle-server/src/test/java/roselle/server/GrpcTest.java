package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.ServerConfig;

/**
 * KServe's protocol over gRPC, byte by byte: over HTTP/1.1, which the server answers likewise, with the status behind the body. That
 * the official clients work, over HTTP/2, {@code ScriptedClientsTest} shows.
 */
final class GrpcTest {
    private static final String SERVICE = "/inference.GRPCInferenceService/";
    private static final String TYPE = "Content-Type: application/grpc\r\n";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    /** A message behind its head. */
    private static String framed(String message) {
        return "\0\0\0\0" + (char) message.length() + message;
    }

    private static String field(int number, String text) {
        return (char) ((number << 3) | 2) + "" + (char) text.length() + text;
    }

    /** All that comes, until the server ends the connection. */
    private static String answer(DemoServer server, String call, String body, String head) throws IOException {
        try (var connection = new PlainConnection(server.server().port())) {
            return connection
                    .post(SERVICE + call, body, head + "Connection: close\r\n")
                    .read(Integer.MAX_VALUE);
        }
    }

    private static String answer(String call, String body) throws IOException {
        return answer(demo, call, body, TYPE);
    }

    private static String request(String model) {
        String tensor = field(1, "text_input") + field(2, "BYTES") + field(3, "\1");
        String most = field(1, "max_tokens") + field(2, "\20\2");
        return framed(field(1, model) + field(3, "7") + field(4, most) + field(5, tensor) + field(7, "\1\0\0\0a"));
    }

    @Test
    void answersACallAndSaysSoBehindIt() throws IOException {
        assertThat(answer("ModelInfer", request("demo")))
                .startsWith("HTTP/1.1 200 OK")
                .contains(
                        "content-type: application/grpc",
                        field(1, "demo") + field(2, "1") + field(3, "7"),
                        "text_output")
                .endsWith("\r\n0\r\ngrpc-status: 0\r\n\r\n");
    }

    @Test
    void answersEachRequestOfAStreamAndRefusesOneAlone() throws IOException {
        String body = request("demo") + request("other") + request("demo");

        String said = answer("ModelStreamInfer", body);

        assertThat(said.split("triton_final_response", -1)).hasSize(3);
        assertThat(said).contains("there is no model other").endsWith("\r\n0\r\ngrpc-status: 0\r\n\r\n");
    }

    @ParameterizedTest
    @CsvSource({
        "ModelInfer, '', 3, no message",
        "ModelInfer, '\0\0', 3, ends within a message",
        "ModelInfer, '\0\0\0\0\5ab', 3, ends within a message",
        "ModelInfer, '\1\0\0\0\0', 12, compressed",
        "ModelInfer, '\0\177\177\177\177', 8, more than",
        "ModelInfer, '\0\0\0\0\0\0\0\0\0\0', 3, more than one message",
        "ModelInfer, '\0\0\0\0\1a', 3, no ModelInferRequest as it may be",
        "ModelReady, '\0\0\0\0\2\30\1', 3, a field 3",
        "ServerLive, '\0\0\0\0\2\30\1', 3, a field 3",
        "TraceSetting, '\0\0\0\0\0', 12, TraceSetting is not supported",
        "ModelConfig, '\0\0\0\0\0', 5, there is no model",
        "RepositoryIndex, '\0\0\0\0\3\12\1a', 3, repository_name is a",
        "RepositoryModelLoad, '\0\0\0\0\6\22\4demo', 12, is not supported where one stays",
        "RepositoryModelUnload, '\0\0\0\0\6\22\4demo', 12, is not supported where one stays",
        "ModelStreamInfer, '\0\0', 3, ends within a message",
    })
    void refusesWithAStatus(String call, String body, int status, String said) throws IOException {
        assertThat(answer(call, body)).startsWith("HTTP/1.1 200 OK").contains("grpc-status: " + status + "\r\n", said);
    }

    @Test
    void tellsOfModelsAsTritonDoes() throws IOException {
        assertThat(answer("RepositoryIndex", framed("")))
                .contains(field(1, "demo") + field(2, "1") + field(3, "READY"))
                .endsWith("grpc-status: 0\r\n\r\n");
        assertThat(answer("ModelStatistics", framed(""))).contains(field(1, "demo") + field(2, "1"));
        assertThat(answer("ModelConfig", framed(field(1, "demo"))))
                .contains("text_input", "\212\1\7roselle")
                .endsWith("grpc-status: 0\r\n\r\n");
    }

    @Test
    void refusesAnotherContentType() throws IOException {
        assertThat(answer(demo, "ServerLive", framed(""), ""))
                .contains("grpc-status: 3\r\n", "must be application/grpc");
    }

    @Test
    void asksForAKeyButOfProbes() throws IOException {
        String key = ApiKey.random();
        var keys = List.of(new ApiKey("a", ApiKey.sha256(key), KeyLimits.DEFAULT));
        try (var server = new DemoServer(ServerConfig.DEFAULT.with(AccessOptions.DEFAULT.withKeys(keys)))) {
            assertThat(answer(server, "ServerLive", framed(""), TYPE)).contains("grpc-status: 0\r\n");
            assertThat(answer(server, "ServerMetadata", framed(""), TYPE)).contains("grpc-status: 16\r\n");
            String head = TYPE + "Authorization: Bearer " + key + "\r\n";
            assertThat(answer(server, "ServerMetadata", framed(""), head)).contains("grpc-status: 0\r\n");
        }
    }

    /** No call of any bytes is a defect. */
    @Test
    void survivesAnyBytes() throws IOException {
        var random = new Random(7);
        for (int turn = 0; turn < 60; turn++) {
            byte[] body = (turn % 2 == 0 ? request("demo") : request("demo") + request("demo"))
                    .getBytes(StandardCharsets.ISO_8859_1);
            for (int change = 0; change < 3; change++) {
                body[random.nextInt(body.length)] = (byte) random.nextInt(256);
            }
            String said = answer(
                    turn % 2 == 0 ? "ModelInfer" : "ModelStreamInfer", new String(body, StandardCharsets.ISO_8859_1));
            assertThat(said).as("turn %d", turn).contains("grpc-status: ").doesNotContain("grpc-status: 13");
        }
    }
}
