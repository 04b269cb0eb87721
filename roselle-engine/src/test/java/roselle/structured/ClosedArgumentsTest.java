package roselle.structured;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.State;
import roselle.grammar.schema.SchemaOptions;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Arguments have the properties that their schema names and no others, unless it says what others are like. */
final class ClosedArgumentsTest {
    private static final JsonMapper JSON = new JsonMapper();

    private static Map<String, Object> map(String json) {
        return JSON.readValue(json, new TypeReference<>() {});
    }

    private static String closed(String schema) {
        return JSON.writeValueAsString(ClosedArguments.of(map(schema)));
    }

    private static boolean allows(String schema, String value) {
        @Nullable
        State state = Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS)
                .start();
        for (byte octet : value.getBytes(StandardCharsets.UTF_8)) {
            state = state == null ? null : state.advance(octet & 0xFF);
        }
        return state != null && state.isAccepting();
    }

    /** A schema, what it allows closed or not, and what it allows no longer. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"properties":{"a":{}},"required":["a"]} | {"a":1} | {"a":1,"b":1}
            {"type":"object","properties":{}} | {} | {"b":1}
            {"properties":{"a":{"properties":{"c":{"const":null}}}}} | {"a":{"c":null}} | {"a":{"d":1}}
            {"properties":{"a":{"items":{"properties":{"c":{}}}}}} | {"a":[{"c":1}]} | {"a":[{"d":1}]}
            {"properties":{"a":{"prefixItems":[{"properties":{"c":{}}}]}}} | {"a":[{"c":1}]} | {"a":[{"d":1}]}
            {"additionalProperties":{"properties":{"c":{}}}} | {"a":{"c":1}} | {"a":{"d":1}}
            {"$ref":"#/$defs/A","$defs":{"A":{"properties":{"c":{}}}}} | {"c":1} | {"d":1}
            {"properties":{"n":{"$ref":"#"}}} | {"n":{"n":{}}} | {"n":{"d":1}}
            {"properties":{"n":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}],"default":null}},"$defs":{"A":{"properties":{"c":{}}}}} \
            | {"n":{"c":1}} | {"n":{"d":1}}
            {"oneOf":[{"properties":{"k":{"const":"x"},"a":{}},"required":["k"]},{"properties":{"k":{"const":"y"},"b":{}},"required":["k"]}]} \
            | {"k":"y","b":1} | {"k":"x","b":1}
            {"properties":{"pet":{"discriminator":{"propertyName":"k"},"oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"},{"type":"null"}]}},\
            "$defs":{"Cat":{"properties":{"k":{"enum":["cat","lion"]},"a":{}}},"Dog":{"properties":{"k":{"const":"dog"},"b":{}},"required":["k"]}}} \
            | {"pet":{"k":"lion","a":1}} | {"pet":{"k":"dog","a":1}}
            {"anyOf":[{"properties":{"k":{"const":"x"},"a":{}},"required":["k"]},{"properties":{"k":{"const":"y"},"b":{}},"required":["k"]}]} \
            | {"k":"x","a":1} | {"k":"y","a":1}
            """)
    void whatIsNotNamedIsRefused(String schema, String allowed, String refused) {
        assertThat(allows(schema, refused)).as("before").isTrue();
        assertThat(allows(closed(schema), refused)).as("behind").isFalse();
        assertThat(allows(schema, allowed)).as("before").isTrue();
        assertThat(allows(closed(schema), allowed)).as("behind").isTrue();
    }

    /** Here a part would refuse what another names, a condition would turn round, or the schema says what others are like. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"object\"}",
                "{\"properties\":{\"a\":{}},\"additionalProperties\":true}",
                "{\"properties\":{\"a\":{}},\"additionalProperties\":{\"type\":\"string\"}}",
                "{\"properties\":{\"a\":{}},\"patternProperties\":{\"^x\":{}}}",
                "{\"properties\":{\"a\":{}},\"propertyNames\":{\"maxLength\":3}}",
                "{\"properties\":{\"a\":{}},\"unevaluatedProperties\":{\"type\":\"string\"}}",
                "{\"properties\":{\"a\":{}},\"required\":[\"b\"]}",
                "{\"properties\":{\"a\":{}},\"minProperties\":2}",
                "{\"properties\":{\"a\":{}},\"dependentRequired\":{\"a\":[\"b\"]}}",
                "{\"properties\":{\"a\":{}},\"allOf\":[{\"properties\":{\"b\":{}}}]}",
                "{\"properties\":{\"a\":{}},\"anyOf\":[{\"properties\":{\"b\":{}}}]}",
                "{\"anyOf\":[{\"properties\":{\"a\":{}}},{\"properties\":{\"b\":{}}}]}",
                "{\"oneOf\":[{\"properties\":{\"a\":{}}},{\"properties\":{\"b\":{}},\"required\":[\"b\"]}]}",
                "{\"oneOf\":[{\"properties\":{\"k\":{\"const\":\"x\"},\"a\":{}}},{\"properties\":{\"k\":{\"const\":\"y\"},\"b\":{}}}]}",
                "{\"oneOf\":[{\"properties\":{\"k\":{\"enum\":[\"x\",\"y\"]}},\"required\":[\"k\"]},"
                        + "{\"properties\":{\"k\":{\"const\":\"y\"},\"b\":{}},\"required\":[\"k\"]}]}",
                "{\"oneOf\":[{\"properties\":{\"k\":{\"const\":\"x\"}},\"required\":[\"k\"]},"
                        + "{\"items\":{\"properties\":{\"b\":{}}}}]}",
                "{\"properties\":{\"a\":{}},\"oneOf\":[{\"properties\":{\"k\":{\"const\":\"x\"}},\"required\":[\"k\"]}]}",
                "{\"properties\":{\"a\":{}},\"not\":{\"properties\":{\"a\":{\"const\":1}}}}",
                "{\"if\":{\"properties\":{\"a\":{\"const\":1}}},\"then\":{\"properties\":{\"b\":{}}}}",
                "{\"properties\":{\"a\":{}},\"$ref\":\"#/$defs/A\",\"$defs\":{\"A\":{\"properties\":{\"b\":{}}}}}",
                "{\"allOf\":[{\"$ref\":\"#/$defs/A\"}],\"$defs\":{\"A\":{\"$ref\":\"#/$defs/B\"},\"B\":{\"properties\":{\"b\":{}}}}}",
                "{\"properties\":{\"a\":{\"not\":{\"$ref\":\"#\"}}}}",
                "{\"properties\":{\"a\":{\"$ref\":\"#/properties/b\"},\"b\":{\"properties\":{\"c\":{}}}}}",
                "{\"properties\":{\"a\":{\"$id\":\"x\",\"properties\":{\"c\":{}}}}}"
            })
    void theseStayAsTheyAre(String schema) {
        assertThat(closed(schema)).isEqualTo(schema);
    }

    /** Whatever is allowed behind was allowed before, and what has only properties of its kind is still allowed. */
    @Test
    void kindsThatAreToldApartLoseNothingOfTheirOwn() {
        String union =
                "{\"oneOf\":[{\"properties\":{\"k\":{\"const\":\"x\"},\"a\":{\"type\":\"integer\"}},\"required\":[\"k\"]},"
                        + "{\"properties\":{\"k\":{\"enum\":[\"y\",\"z\"]},\"a\":{\"type\":\"null\"},\"b\":{}}}]}";
        String[] kinds = {"", "\"k\":\"x\"", "\"k\":\"y\"", "\"k\":\"z\"", "\"k\":\"w\""};
        int lost = 0;
        for (String kind : kinds) {
            for (String a : new String[] {"", "\"a\":1", "\"a\":null", "\"a\":true"}) {
                for (String b : new String[] {"", "\"b\":2", "\"c\":3"}) {
                    String value = "{"
                            + Stream.of(kind, a, b)
                                    .filter(part -> !part.isEmpty())
                                    .collect(Collectors.joining(",")) + "}";
                    boolean before = allows(union, value);
                    boolean behind = allows(closed(union), value);
                    boolean isExtra = b.contains("c") || (b.contains("b") && kind.contains("x"));
                    assertThat(behind).as(value).isEqualTo(before && !isExtra);
                    lost += before && !behind ? 1 : 0;
                }
            }
        }
        assertThat(lost).isPositive();
    }

    @Test
    void aToolWithoutParametersHasNone() {
        Map<String, Object> tool = map("{\"type\":\"function\",\"function\":{\"name\":\"f\",\"strict\":true}}");

        String schema = JSON.writeValueAsString(Tools.schema(Tools.closed(tool)));

        assertThat(allows(schema, "{}")).isTrue();
        assertThat(allows(schema, "{\"a\":1}")).isFalse();
        assertThat(Tools.name(Tools.closed(tool))).isEqualTo("f");
    }
}
