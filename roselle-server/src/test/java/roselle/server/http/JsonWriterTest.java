package roselle.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

final class JsonWriterTest {
    @Test
    void separatesMembersAndElementsAndKeepsTheirOrder() {
        var json = new JsonWriter()
                .object()
                .field("b", "x")
                .field("a", 1)
                .field("f", 0.5f)
                .field("t", true)
                .nullField("n")
                .fieldOrNull("e", "")
                .array("l")
                .value(1)
                .object()
                .endObject()
                .array()
                .endArray()
                .value("y")
                .nullValue()
                .endArray()
                .object("o")
                .field("k", "v")
                .endObject()
                .endObject();

        assertThat(json)
                .hasToString("{\"b\":\"x\",\"a\":1,\"f\":0.5,\"t\":true,\"n\":null,\"e\":null,"
                        + "\"l\":[1,{},[],\"y\",null],\"o\":{\"k\":\"v\"}}");
    }

    @Test
    void escapesWhatJsonOrALineCannotHold() {
        assertThat(new JsonWriter().value("a\"b\\c\n\r\t\b\f\u0000\u001f\u007fé\uD83D\uDE00\uD83D"))
                .hasToString("\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0000\\u001f\\u007fé\uD83D\uDE00\uFFFD\"");
        assertThat(new JsonWriter().object().field("a\"b", 1).endObject()).hasToString("{\"a\\\"b\":1}");
    }

    @Test
    void writesEveryCharacterAsAReaderReadsIt() {
        var mapper = new JsonMapper();
        for (int codePoint = 0; codePoint <= Character.MAX_CODE_POINT; codePoint += codePoint < 0x900 ? 1 : 0x3FF) {
            if (codePoint < Character.MIN_SURROGATE || codePoint > Character.MAX_SURROGATE) {
                String text = Character.toString(codePoint);
                byte[] written = new JsonWriter().value(text).toBytes();
                assertThat(mapper.readTree(written).stringValue()).isEqualTo(text);
            }
        }
    }

    @Test
    void documentsBeginAsAnotherOneBegan() {
        var opening = new JsonWriter()
                .object()
                .field("id", "x")
                .array("choices")
                .value(1)
                .opening();

        var first = new JsonWriter().begin(opening).value(2).endArray().endObject();
        var second =
                new JsonWriter().begin(opening).endArray().field("last", true).endObject();

        assertThat(first).hasToString("{\"id\":\"x\",\"choices\":[1,2]}");
        assertThat(second).hasToString("{\"id\":\"x\",\"choices\":[1],\"last\":true}");
    }

    @Test
    void takesWhatIsJsonAlreadyAsAValue() {
        byte[] value = "{\"é\":[1]}".getBytes(StandardCharsets.UTF_8);

        assertThat(new JsonWriter().array().json(value).json(value).endArray())
                .hasToString("[{\"é\":[1]},{\"é\":[1]}]");
    }

    @Test
    void refusesWhatIsNoDocument() {
        List<Consumer<JsonWriter>> defects = List.of(
                json -> json.object().value("without a name"),
                json -> json.object().array(),
                json -> json.object().name("a").name("b"),
                json -> json.object().name("a").endObject(),
                json -> json.object().endArray(),
                json -> json.array().endObject(),
                json -> json.array().name("a"),
                json -> json.name("a"),
                json -> json.endArray(),
                json -> json.value(1).value(2),
                json -> json.value(1).begin(new JsonWriter().object().opening()),
                json -> json.object().name("a").opening(),
                json -> json.object().toBytes(),
                JsonWriter::toBytes,
                json -> {
                    for (int level = 0; level < 100; level++) {
                        json.array();
                    }
                });

        for (Consumer<JsonWriter> defect : defects) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> defect.accept(new JsonWriter()))
                    .withMessageContaining("cannot stand here");
        }
    }

    @Test
    void refusesNumbersThatJsonDoesNotHave() {
        for (float number : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            assertThatIllegalArgumentException().isThrownBy(() -> new JsonWriter().value(number));
        }
    }
}
