package roselle.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.json.JsonLimits.Allowance;
import tools.jackson.core.JacksonException;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** What readers of JSON refuse, whatever they read. */
class JsonLimitsTest {
    private static final JsonLimits SMALL = JsonLimits.DEFAULT
            .withDepth(3)
            .withNumberCharacters(5)
            .withNameCharacters(4)
            .withStringCharacters(6)
            .withDocumentBytes(100_000)
            .withTokens(40);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[[[[1]]]]",
                "123456",
                "{\"names\":1}",
                "\"strings\"",
                "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
                "{\"a\":1,\"a\":2}",
                "NaN",
                "[1,]",
                "{'a':1}",
                "// 1",
                "01",
                "1 2"
            })
    void refusesWhatIsBeyondALimitOrNoJson(String json) {
        assertThatThrownBy(() -> SMALL.mapper().readTree(json)).isInstanceOf(JacksonException.class);
    }

    @Test
    void refusesADocumentThatIsTooLong() {
        assertThatThrownBy(() -> read(SMALL.factory(), "[" + " ".repeat(200_000) + "]"))
                .isInstanceOf(JacksonException.class);
    }

    @Test
    void readsWhatIsWithinAllLimits() {
        assertThat(SMALL.mapper()
                        .readTree("{\"name\":[[12345]],\"s\":\"string\"}")
                        .toString())
                .isEqualTo("{\"name\":[[12345]],\"s\":\"string\"}");
    }

    @Test
    void allowsWhatIsAskedForAlone() {
        JsonFactory numbers = SMALL.factory(Allowance.NOT_A_NUMBER);
        assertThatCode(() -> read(numbers, "[NaN,-INF]")).doesNotThrowAnyException();
        assertThatThrownBy(() -> read(numbers, "{\"a\":1,\"a\":2}")).isInstanceOf(JacksonException.class);
        JsonFactory names = SMALL.factory(Allowance.MANY_NAMES);
        assertThatCode(() -> read(names, "{\"a\":1,\"a\":2}")).doesNotThrowAnyException();
        assertThatThrownBy(() -> read(names, "[NaN]")).isInstanceOf(JacksonException.class);
    }

    private static void read(JsonFactory factory, String json) {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        try (var parser = factory.createParser(ObjectReadContext.empty(), new ByteArrayInputStream(bytes))) {
            while (parser.nextToken() != null) {
                parser.skipChildren();
            }
        }
    }
}
