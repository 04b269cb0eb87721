package roselle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;

class SettingsTest {
    private static Settings of(String name, String value) {
        return Settings.of(Map.of("model", "demo", name, value), Setting.ofGeneration());
    }

    @Test
    void namesHaveNoCase() {
        assertThat(of("MAXTOKENS", "8").whole(Setting.MAX_TOKENS)).isEqualTo(8);
    }

    @Test
    void refusesValuesThatAreNone() {
        assertThatThrownBy(() -> of("maxTokens", "many").whole(Setting.MAX_TOKENS))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("maxTokens is many: it must be a whole number of at least 0");
        assertThatThrownBy(() -> of("raw", "yes").flag(Setting.RAW)).hasMessage("raw is yes: it must be true or false");
        assertThatThrownBy(() -> of("deadlineSeconds", "-1").seconds(Setting.DEADLINE_SECONDS))
                .hasMessageContaining("deadlineSeconds is -1");
        assertThatThrownBy(() -> of("onError", "skip").failsOnError())
                .hasMessage("onError is skip: it must be row or fail");
        assertThatThrownBy(() -> Settings.of(Map.of(), Setting.ofGeneration())).hasMessageContaining("option model");
        assertThatThrownBy(() -> of("inputCol", "text")).hasMessageContaining("there is no option inputCol");
    }

    @Test
    void typesBecomeJsonSchemas() {
        var type = StructType.fromDDL("name STRING NOT NULL, tags ARRAY<STRING> NOT NULL, "
                + "size STRUCT<width: TINYINT NOT NULL> NOT NULL, note STRING");
        String schema = JsonSchemas.of(type);
        assertThat(schema)
                .contains("\"name\":{\"type\":\"string\"}")
                .contains("\"required\":[\"name\",\"tags\",\"size\",\"note\"]")
                .contains("\"type\":\"null\"")
                .contains("127");
        assertThatThrownBy(() -> JsonSchemas.of(StructType.fromDDL("a STRUCT<b: BINARY>")))
                .hasMessage("schema.a.b is of type BINARY, for which an answer in JSON has no form");
    }
}
