package roselle.server.kserve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.server.grpc.ProtoWriter;
import roselle.server.http.ApiException;

/** Messages as the protocol's own library writes them: the bytes are of Python's protobuf 6.33.6 with tritonclient 2.73.0. */
final class GrpcRequestTest {
    private static final String TYPED = """
            0a0464656d6f1201311a013722110a0a6d61785f746f6b656e73120310ac0222120a0473656564120a28818080808080808040220b0a0473
            746f7012031a017822180a0b74656d7065726174757265120921000000000000e03f2a210a0a746578745f696e707574120542595445531a
            01012a0942074772c3bcc39f652a270a176578636c7564655f696e7075745f696e5f6f75747075741204424f4f4c1a01012a030a01013220
            0a0b746578745f6f757470757412110a0b62696e6172795f6461746112020801""";

    private static final String RAW = """
            0a0464656d6f22170a087072696f72697479120b10ffffffffffffffffff012a160a0a746578745f696e707574120542595445531a01013a
            0703000000616263""";

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
    }

    @Test
    void readsTypedContentsAndParametersOfEveryType() {
        GrpcRequest request = GrpcRequest.read(bytes(TYPED));

        assertThat(request.model()).isEqualTo("demo");
        assertThat(request.version()).isEqualTo("1");
        assertThat(request.id()).isEqualTo("7");
        assertThat(request.rest()).isEmpty();
        assertThat(request.fields().plain())
                .isEqualTo(Map.of(
                        "id",
                        "7",
                        "parameters",
                        Map.of("max_tokens", 300L, "seed", (1L << 62) + 1, "stop", "x", "temperature", 0.5),
                        "inputs",
                        List.of(
                                Map.of(
                                        "name",
                                        "text_input",
                                        "datatype",
                                        "BYTES",
                                        "shape",
                                        List.of(1L),
                                        "data",
                                        List.of("Grüße")),
                                Map.of(
                                        "name",
                                        "exclude_input_in_output",
                                        "datatype",
                                        "BOOL",
                                        "shape",
                                        List.of(1L),
                                        "data",
                                        List.of(true))),
                        "outputs",
                        List.of(Map.of("name", "text_output", "parameters", Map.of("binary_data", true)))));
    }

    @Test
    void readsRawContentsAsTheBytesBehindTheJson() {
        GrpcRequest request = GrpcRequest.read(bytes(RAW));

        assertThat(request.rest()).isEqualTo("\3\0\0\0abc".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(request.fields().plain())
                .isEqualTo(Map.of(
                        "parameters",
                        Map.of("priority", -1L),
                        "inputs",
                        List.of(Map.of(
                                "name",
                                "text_input",
                                "datatype",
                                "BYTES",
                                "shape",
                                List.of(1L),
                                "parameters",
                                Map.of("binary_data_size", 7L)))));
    }

    @Test
    void writesWhatTheProtocolsLibraryWrites() {
        var written = new ProtoWriter()
                .text(1, "demo")
                .element(2, "1")
                .text(3, "roselle")
                .message(4, new ProtoWriter().text(1, "a").text(2, "BYTES").packed(3, 1))
                .message(5, new ProtoWriter().text(1, "b").text(2, "FP32").packed(3, -1));

        assertThat(written.toBytes()).isEqualTo(bytes("""
                0a0464656d6f1201311a07726f73656c6c65220d0a0161120542595445531a01012a150a01621204465033321a0affffffffffffffffff01"""));
    }

    @ParameterizedTest
    @CsvSource({
        "4001, it has a field 8",
        "0801, field 1 is no text",
        "0aff, it ends within a number",
        "0a05, field 1 ends behind it",
        "0a01ff, field 1 is no text in UTF-8",
        "00, a field has no number",
        "0affffffffffffffffffff01, a number has more than ten bytes",
        "3a00, raw_input_contents has 1 elements and inputs 0",
        "2200, the parameter  has no value",
        "2a042a021001, contents must be bytes_contents or bool_contents"
    })
    void refusesWhatIsNoRequest(String hex, String said) {
        assertThatThrownBy(() -> GrpcRequest.read(bytes(hex)))
                .isInstanceOf(ApiException.class)
                .satisfies(refusal -> assertThat(
                                String.valueOf(refusal.getMessage()).replace(",", ""))
                        .contains(said));
    }

    /** Whatever a peer sends is read or refused, and nothing else happens. */
    @Test
    void survivesChangedMessages() {
        var random = new Random(22);
        int refused = 0;
        for (int turn = 0; turn < 20_000; turn++) {
            byte[] bytes = bytes(turn % 2 == 0 ? TYPED : RAW);
            for (int change = random.nextInt(4); change >= 0; change--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                GrpcRequest.read(bytes);
            } catch (ApiException _) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1000, 19_000);
    }
}
