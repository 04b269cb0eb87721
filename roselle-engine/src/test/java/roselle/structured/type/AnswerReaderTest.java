package roselle.structured.type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.type.PartialValue;
import roselle.api.type.TypeReference;
import roselle.api.type.TypedEvent;
import roselle.api.type.TypedEvent.FieldDelta;
import roselle.api.type.TypedEvent.FieldDone;
import roselle.api.type.TypedEvent.FieldStarted;

/** Answers are read into their types wherever they are cut, and tell of their fields on the way. */
final class AnswerReaderTest {
    sealed interface Shape {}

    record Circle(double radius) implements Shape {}

    record Polygon(List<List<Integer>> corners, @Nullable String name) implements Shape {}

    record Drawing(String title, List<Shape> shapes, Map<String, BigDecimal> totals, Optional<String> note) {
        Drawing {
            if (title.isEmpty()) {
                throw new IllegalArgumentException("a drawing has a title");
            }
        }
    }

    private static final AnswerType<Drawing> DRAWING = AnswerType.of(Drawing.class);
    private static final String TEXT = """
            {"title": "a\\"\\\\\\u00e4\\ud83d\\ude00é😀\\n",
              "shapes": [{"type": "Circle", "radius": -1.5e2}, {"type": "Polygon", "corners": [[1, 2], []], "name": null}],
              "totals": {"a\\"b": 1.50, "": 2}, "note": "n"}""";
    private static final Drawing VALUE = new Drawing(
            "a\"\\ä😀é😀\n",
            List.of(new Circle(-150), new Polygon(List.of(List.of(1, 2), List.of()), null)),
            Map.of("a\"b", new BigDecimal("1.50"), "", new BigDecimal(2)),
            Optional.of("n"));

    @Test
    void everyCutIntoTwoAndThreeGivesTheSame() {
        Reading.Told whole = Reading.inPieces(DRAWING, TEXT);
        assertThat(whole.value()).isEqualTo(VALUE);
        for (int one = 0; one <= TEXT.length(); one++) {
            assertThat(Reading.inPieces(DRAWING, TEXT, one))
                    .as("cut at %d", one)
                    .isEqualTo(whole);
            for (int two = one; two <= TEXT.length(); two += 3) {
                assertThat(Reading.inPieces(DRAWING, TEXT, one, two))
                        .as("cut at %d and %d", one, two)
                        .isEqualTo(whole);
            }
        }
        int[] everywhere = java.util.stream.IntStream.range(0, TEXT.length()).toArray();
        assertThat(Reading.inPieces(DRAWING, TEXT, everywhere)).isEqualTo(whole);
    }

    @Test
    void fieldsAreToldInOrderWithTheirPaths() {
        assertThat(Reading.inPieces(DRAWING, TEXT).events())
                .containsExactly(
                        new FieldStarted(""),
                        new FieldStarted("title"),
                        new FieldDelta("title", VALUE.title),
                        new FieldDone("title", VALUE.title),
                        new FieldStarted("shapes"),
                        new FieldStarted("shapes[0]"),
                        new FieldStarted("shapes[0].type"),
                        new FieldDone("shapes[0].type", "Circle"),
                        new FieldStarted("shapes[0].radius"),
                        new FieldDone("shapes[0].radius", -150.0),
                        new FieldDone("shapes[0]", VALUE.shapes.get(0)),
                        new FieldStarted("shapes[1]"),
                        new FieldStarted("shapes[1].type"),
                        new FieldDone("shapes[1].type", "Polygon"),
                        new FieldStarted("shapes[1].corners"),
                        new FieldStarted("shapes[1].corners[0]"),
                        new FieldStarted("shapes[1].corners[0][0]"),
                        new FieldDone("shapes[1].corners[0][0]", 1),
                        new FieldStarted("shapes[1].corners[0][1]"),
                        new FieldDone("shapes[1].corners[0][1]", 2),
                        new FieldDone("shapes[1].corners[0]", List.of(1, 2)),
                        new FieldStarted("shapes[1].corners[1]"),
                        new FieldDone("shapes[1].corners[1]", List.of()),
                        new FieldDone("shapes[1].corners", List.of(List.of(1, 2), List.of())),
                        new FieldStarted("shapes[1].name"),
                        new FieldDone("shapes[1].name", null),
                        new FieldDone("shapes[1]", VALUE.shapes.get(1)),
                        new FieldDone("shapes", VALUE.shapes),
                        new FieldStarted("totals"),
                        new FieldStarted("totals[\"a\\\"b\"]"),
                        new FieldDone("totals[\"a\\\"b\"]", new BigDecimal("1.50")),
                        new FieldStarted("totals[\"\"]"),
                        new FieldDone("totals[\"\"]", new BigDecimal(2)),
                        new FieldDone("totals", VALUE.totals),
                        new FieldStarted("note"),
                        new FieldDelta("note", "n"),
                        new FieldDone("note", Optional.of("n")),
                        new FieldDone("", VALUE));
    }

    @Test
    void deltasComeWithEachPieceAndNeverAsHalfACharacter() {
        List<TypedEvent> events = new ArrayList<>();
        AnswerReader<String> reader = AnswerType.of(String.class).reader(events::add);
        for (String piece : List.of("\"ab", "c\\ud8", "3d\\", "ude00", "d", "\\", "n\"")) {
            reader.accept(piece);
        }
        assertThat(events)
                .containsExactly(
                        new FieldStarted(""),
                        new FieldDelta("", "ab"),
                        new FieldDelta("", "c"),
                        new FieldDelta("", "😀"),
                        new FieldDelta("", "d"),
                        new FieldDelta("", "\n"),
                        new FieldDone("", "abc😀d\n"));
    }

    @Test
    void whatIsThereOfAValueIsKnownAtAnyTime() {
        AnswerReader<Drawing> reader = DRAWING.reader(_ -> {});
        assertThat(reader.partial()).isEqualTo(new PartialValue.Nothing());
        reader.accept("{\"title\": \"Ti");
        assertThat(reader.partial()).isEqualTo(members(Map.of("title", new PartialValue.Text("Ti"))));
        reader.accept(
                "tle\", \"shapes\": [{\"type\": \"Circle\", \"radius\": 1}, {\"type\": \"Circle\", \"radius\": 12");
        assertThat(reader.path()).isEqualTo("shapes[1].radius");
        assertThat(reader.partial())
                .isEqualTo(members(Map.of(
                        "title",
                        new PartialValue.Whole("Title"),
                        "shapes",
                        new PartialValue.Elements(List.of(
                                new PartialValue.Whole(new Circle(1)),
                                members(Map.of(
                                        "type",
                                        new PartialValue.Whole("Circle"),
                                        "radius",
                                        new PartialValue.Nothing())))))));
        assertThat(reader.isComplete()).isFalse();
        reader.accept("}], \"totals\": {\"x\": 1, \"y");
        assertThat(((PartialValue.Members) reader.partial()).members().get("totals"))
                .isEqualTo(members(Map.of("x", new PartialValue.Whole(BigDecimal.ONE))));
        reader.accept("\": 2}, \"note\": null}");
        assertThat(reader.partial()).isEqualTo(new PartialValue.Whole(reader.value()));
    }

    private static PartialValue members(Map<String, PartialValue> members) {
        return new PartialValue.Members(members);
    }

    @Test
    void aNumberAloneIsOverWhenTheAnswerIs() {
        AnswerReader<Integer> reader = AnswerType.of(Integer.class).reader(_ -> {});
        reader.accept("1");
        reader.accept("2.0");
        assertThat(reader.isComplete()).isFalse();
        reader.finish();
        assertThat(reader.value()).isEqualTo(12);
    }

    @Test
    void collectionsKeepTheirOrderAndDoNotChange() {
        var type = AnswerType.of(new TypeReference<Set<String>>() {});
        Set<String> value = Reading.whole(type, "[\"b\", \"a\", \"b\"]", "");
        assertThat(value).isEqualTo(new LinkedHashSet<>(List.of("b", "a"))).containsExactly("b", "a");
        assertThatThrownBy(() -> value.add("c")).isInstanceOf(UnsupportedOperationException.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"title\": \"\", \"shapes\": [], \"totals\": {}, \"note\": null} | `` | a drawing has a title",
                "{\"title\": 1 | title | 1 is not expected here",
                "{\"name\": | `` | Drawing has no component name",
                "{\"title\": \"a\", \"title\": | title | Drawing has two components title",
                "{\"title\": \"a\"} | `` | Drawing lacks shapes",
                "{\"title\": null, | title | null is not expected here",
                "{\"shapes\": [{\"radius\": | shapes[0] | the first property is radius, not type",
                "{\"shapes\": [{\"type\": \"Line\" | shapes[0] | Line is none of [Circle, Polygon]",
                "{\"shapes\": [{}] | shapes[0] | the property type is missing",
                "{\"shapes\": [{\"type\": \"Circle\", \"radius\": 1. } | shapes[0].radius | 1. is no number",
                "{\"shapes\": [{\"type\": \"Circle\", \"radius\": 0x1p3 } | shapes[0].radius | is not expected here",
                "{\"shapes\": {} | shapes | an object is not expected here",
                "{\"shapes\": [,] | shapes | ',' is not expected here",
                "{\"shapes\": [1 | shapes[0] | 1 is not expected here",
                "[ | `` | an array is not expected here",
                "{\"note\": \"\\x | note | 'x' is not expected here",
                "{\"totals\": {\"a\": 1, \"a\": | totals | the key a is there twice",
                "{\"totals\": {\"a\": 1 ] | totals | ']' is not expected here",
            })
    void whatIsNoValueOfTheTypeIsRefusedWithItsPath(String text, String path, String what) {
        AnswerReader<Drawing> reader = DRAWING.reader(_ -> {});
        assertThatThrownBy(() -> reader.accept(text + " "))
                .isInstanceOfSatisfying(
                        UnreadableException.class,
                        unreadable -> assertThat(unreadable.path()).isEqualTo(path))
                .hasMessageContaining(what);
    }
}
