package roselle.structured.type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.api.InvalidRequestException;
import roselle.api.type.Description;
import roselle.api.type.Discriminator;
import roselle.api.type.Length;
import roselle.api.type.Pattern;
import roselle.api.type.Range;
import roselle.api.type.Size;
import roselle.api.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Types become schemas, and those that no answer can be of are refused with their place. */
@SuppressWarnings({"unused", "rawtypes", "ArrayRecordComponent", "NullableOptional"}) // types that are only looked at
final class AnswerTypeTest {
    enum Currency {
        EUR,
        USD
    }

    @Description("One thing that is charged.")
    record Line(
            @Length(min = 1, max = 40) String text,
            @Range(min = 0) BigDecimal price,

            @Description("how many") @Range(min = 1, max = 99)
            int count) {}

    sealed interface Payment {}

    record Card(@Pattern("[0-9]{4}") String lastDigits) implements Payment {}

    record Cash() implements Payment {}

    record Invoice(
            LocalDate day,
            @Size(min = 1) List<Line> lines,
            Payment payment,
            Optional<String> note,
            @Nullable Invoice corrects,
            Map<Currency, Double> rates) {}

    private static JsonNode json(String text) {
        return JsonMapper.shared().readTree(text);
    }

    @Test
    void componentsAreRequiredPropertiesInTheirOrder() {
        String schema = AnswerType.of(Invoice.class).schema();
        assertThat(json(schema)).isEqualTo(json("""
                {"$ref": "#/$defs/Invoice", "$defs": {
                  "Invoice": {
                    "type": "object",
                    "properties": {
                      "day": {"type": "string", "pattern": "^(?:%s)$"},
                      "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}, "minItems": 1},
                      "payment": {"$ref": "#/$defs/Payment"},
                      "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                      "corrects": {"anyOf": [{"$ref": "#/$defs/Invoice"}, {"type": "null"}]},
                      "rates": {
                        "type": "object",
                        "propertyNames": {"enum": ["EUR", "USD"]},
                        "additionalProperties": {"type": "number"}
                      }
                    },
                    "required": ["day", "lines", "payment", "note", "corrects", "rates"],
                    "additionalProperties": false
                  },
                  "Line": {
                    "type": "object",
                    "properties": {
                      "text": {"type": "string", "minLength": 1, "maxLength": 40},
                      "price": {"type": "number", "minimum": 0.0},
                      "count": {"type": "integer", "minimum": 1, "maximum": 99, "description": "how many"}
                    },
                    "required": ["text", "price", "count"],
                    "additionalProperties": false,
                    "description": "One thing that is charged."
                  },
                  "Payment": {"anyOf": [
                    {
                      "type": "object",
                      "properties": {
                        "type": {"const": "Card"},
                        "lastDigits": {"type": "string", "pattern": "^(?:[0-9]{4})$"}
                      },
                      "required": ["type", "lastDigits"],
                      "additionalProperties": false
                    },
                    {
                      "type": "object",
                      "properties": {"type": {"const": "Cash"}},
                      "required": ["type"],
                      "additionalProperties": false
                    }
                  ]}
                }}""".formatted(Scalars.DATE.replace("\\", "\\\\"))));
        assertThat(List.of("day", "lines", "payment", "note", "corrects", "rates"))
                .isSortedAccordingTo((one, other) ->
                        Integer.compare(schema.indexOf("\"" + one + "\""), schema.indexOf("\"" + other + "\"")));
    }

    record Numbers(
            int i,
            long l,
            short s,
            byte b,
            float f,
            double d,
            OptionalInt o,
            @Range(max = 1000) byte narrow) {}

    @Test
    void numbersHaveTheRangesOfTheirTypes() {
        JsonNode properties = json(AnswerType.of(Numbers.class).schema()).at("/$defs/Numbers/properties");
        assertThat(properties.get("i"))
                .isEqualTo(json("{\"type\": \"integer\", \"minimum\": -2147483648, \"maximum\": 2147483647}"));
        assertThat(properties.get("l").get("maximum").longValue()).isEqualTo(Long.MAX_VALUE);
        assertThat(properties.get("s").get("minimum").intValue()).isEqualTo(-32768);
        assertThat(properties.get("f").get("maximum").floatValue()).isEqualTo(Float.MAX_VALUE);
        assertThat(properties.get("d")).isEqualTo(json("{\"type\": \"number\"}"));
        assertThat(properties.get("o").at("/anyOf/0")).isEqualTo(properties.get("i"));
        assertThat(properties.get("narrow")).isEqualTo(properties.get("b"));
    }

    record Box<T>(T content, @Nullable Box<T> next) {}

    record Boxes(Box<@Length(max = 3) String> texts, Box<Integer> numbers, Box<? extends Payment> payments) {}

    @Test
    void argumentsOfGenericRecordsCountWithTheirAnnotations() {
        JsonNode definitions = json(AnswerType.of(Boxes.class).schema()).get("$defs");
        assertThat(definitions.at("/Box/properties/content/maxLength").intValue())
                .isEqualTo(3);
        assertThat(definitions.at("/Box/properties/next/anyOf/0/$ref").stringValue())
                .isEqualTo("#/$defs/Box");
        assertThat(definitions.at("/Box_2/properties/content/type").stringValue())
                .isEqualTo("integer");
        assertThat(definitions.at("/Box_3/properties/content/$ref").stringValue())
                .isEqualTo("#/$defs/Payment");
    }

    @Discriminator("kind")
    sealed interface Result<T> {}

    record Good<V>(V value, String type) implements Result<V> {}

    sealed interface Bad<X> extends Result<X> {}

    record Late<X>(int seconds) implements Bad<X> {}

    @Test
    void permittedRecordsTakeTheArgumentsOfTheirInterface() {
        var type = AnswerType.of(new TypeReference<List<Result<LocalDate>>>() {});
        assertThat(json(type.schema())
                        .at("/$defs/Result/anyOf/0/properties/kind/const")
                        .stringValue())
                .isEqualTo("Good");
        assertThat(Reading.whole(
                        type,
                        "[{\"kind\":\"Good\",\"value\":\"2026-01-31\",\"type\":\"x\"},{\"kind\":\"Late\",\"seconds\":3}]",
                        ""))
                .isEqualTo(List.of(new Good<>(LocalDate.of(2026, 1, 31), "x"), new Late<LocalDate>(3)));
    }

    // ---- what is refused ----

    record Dated(List<Map<String, Day>> days) {}

    record Day(Date date) {}

    record Raw(List list) {}

    record Wild(Map<String, ?> map) {}

    record Arrays(int[] numbers) {}

    record Endless(String name, Optional<Endless> maybe, Other next) {}

    record Other(@Size(min = 1) List<Endless> all) {}

    record Grown<T>(T value, @Nullable Grown<List<T>> next) {}

    record Start(Grown<String> grown) {}

    record Misplaced(@Length(max = 3) int number) {}

    record MisplacedInside(@Length(max = 3) Optional<String> text) {}

    record Twice(Optional<Optional<String>> text) {}

    record NullTwice(@Nullable Optional<String> text) {}

    record NullInt(@Nullable Integer fine, List<@Nullable Optional<String>> texts) {}

    record Nothing(@Range(min = 0.2, max = 0.8) int number) {}

    record TooFine(@Range(max = 1e18) long number) {}

    record Turned(@Size(min = 3, max = 2) List<String> list) {}

    record Few(@Size(min = 2) Set<String> set) {}

    record Keyed(Map<Integer, String> map) {}

    record Sorted(TreeMap<String, String> map) {}

    record Any(Object any) {}

    enum Empty {}

    record NoConstants(Empty empty) {}

    sealed interface Open {}

    non-sealed interface Opened extends Open {}

    record Closed(Open open) {}

    sealed interface Typed {}

    record WithType(String type) implements Typed {}

    sealed interface OfText<T> {}

    record Text(String text) implements OfText<String> {}

    record Asks(OfText<Integer> numbers) {}

    sealed interface Hidden {}

    record Free<T>(T value) implements Hidden {}

    static Stream<Map.Entry<Class<?>, String>> refusals() {
        return Stream.of(
                Map.entry(Dated.class, "Dated.days[][].date: java.util.Date is not supported"),
                Map.entry(Raw.class, "Raw.list: the raw type List"),
                Map.entry(Box.class, "Box: the raw type Box"),
                Map.entry(Wild.class, "Wild.map: ?, which may be anything"),
                Map.entry(Arrays.class, "Arrays.numbers: an array"),
                Map.entry(Endless.class, "Endless: Endless contains itself without end"),
                Map.entry(Start.class, ".next: Grown has arguments that grow without end"),
                Map.entry(Misplaced.class, "Misplaced.number: @Length is for String, not for int"),
                Map.entry(MisplacedInside.class, "as in Optional<@Length(…) …>"),
                Map.entry(Twice.class, "Twice.text: null would mean two things"),
                Map.entry(NullTwice.class, "NullTwice.text: Optional is never null"),
                Map.entry(NullInt.class, "NullInt.texts[]: Optional is never null"),
                Map.entry(Nothing.class, "Nothing.number: @Range leaves no int"),
                Map.entry(TooFine.class, "TooFine.number: @Range has the bound 1.0E18"),
                Map.entry(Turned.class, "Turned.list: @Size is 3 to 2"),
                Map.entry(Few.class, "Few.set: @Size is at least 2, but a Set"),
                Map.entry(Keyed.class, "Keyed.map[key]: Integer cannot be the key"),
                Map.entry(Sorted.class, "Sorted.map: java.util.TreeMap is not supported"),
                Map.entry(Any.class, "Any.any: java.lang.Object is not supported"),
                Map.entry(NoConstants.class, "NoConstants.empty: the enum Empty has no constants"),
                Map.entry(Closed.class, "Closed.open(Opened): is no record"),
                Map.entry(Typed.class, "Typed(WithType).type: is also the property"),
                Map.entry(Asks.class, "Asks.numbers(Text): is a java.lang.String of the interface, not a Integer"),
                Map.entry(Hidden.class, "Hidden(Free): its type variable T does not follow"),
                Map.entry(Collection.class, "Collection: the raw type"),
                Map.entry(int[].class, "int[]: int[] is not supported"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void typesThatNoAnswerCanBeOfAreRefusedWithTheirPlace(Map.Entry<Class<?>, String> refusal) {
        assertThatThrownBy(() -> AnswerType.of(refusal.getKey()))
                .isInstanceOfSatisfying(
                        InvalidRequestException.class,
                        refused -> assertThat(refused.field()).isEqualTo("type"))
                .hasMessageContaining(refusal.getValue());
    }

    @Test
    void aReferenceNamesItsTypeInPlace() {
        assertThatThrownBy(() -> AnswerType.of(AnswerTypeTest.<String>ofVariable()))
                .hasMessageContaining("the type variable T");
        assertThatThrownBy(() -> AnswerType.of(new TypeReference<@Nullable String>() {}))
                .hasMessageContaining("never null as a whole");
    }

    private static <T> TypeReference<List<T>> ofVariable() {
        return new TypeReference<>() {};
    }
}
