package roselle.structured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import roselle.conversation.format.Shape;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.State;

/** Constraints of shapes allow what the shapes say, and every walk that they allow ends. */
public final class ShapeConstraintTest {
    private static final ShapeCompiler COMPILER =
            new ShapeCompiler(SpecialOctets.none(), new int[0], List.of(), GrammarLimits.DEFAULTS);

    private static Constraint compile(Shape shape) {
        return COMPILER.compile(shape);
    }

    private static boolean accepts(Constraint constraint, String text) {
        State state = constraint.start();
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            state = state.advance(octet & 0xFF);
            if (state == null) {
                return false;
            }
        }
        return state.isAccepting();
    }

    @Test
    void partsThatComeAgainAreSeparated() {
        var part = new Shape.Choice(List.of(new Shape.Literal("a"), new Shape.Literal("ab")));
        Constraint many = compile(new Shape.Repeated(part, ";", 1, Integer.MAX_VALUE));
        assertThat(List.of("a", "ab", "a;ab;a")).allMatch(text -> accepts(many, text));
        assertThat(List.of("", "a;", ";a", "aab", "a;;a")).noneMatch(text -> accepts(many, text));
        Constraint one = compile(new Shape.Repeated(part, ";", 1, 1));
        assertThat(accepts(one, "ab")).isTrue();
        assertThat(accepts(one, "a;a")).isFalse();
    }

    @Test
    void membersComeInOrderAndRequiredOnesAlways() {
        var members = List.of(
                new Shape.Member(new Shape.Literal("a"), false),
                new Shape.Member(new Shape.Literal("b"), true),
                new Shape.Member(new Shape.Literal("c"), false));
        Constraint constraint = compile(new Shape.Members(members, ","));
        assertThat(List.of("a,b,c", "b", "a,b", "b,c")).allMatch(text -> accepts(constraint, text));
        assertThat(List.of("", "a", "a,c", "ab", "b,", ",b", "b,a", "c")).noneMatch(text -> accepts(constraint, text));
        Constraint optional = compile(new Shape.Members(List.of(new Shape.Member(new Shape.Literal("a"), false)), ","));
        assertThat(List.of("", "a")).allMatch(text -> accepts(optional, text));
    }

    @Test
    void freeTextIsUtf8WithoutItsMark() {
        Constraint constraint =
                compile(new Shape.Sequence(List.of(new Shape.FreeText(List.of("</p>")), new Shape.Literal("</p>"))));
        assertThat(List.of("</p>", "x</p>", "a < b </ p></p>", "ä😀퟿\u0800</p>", "<</p>"))
                .allMatch(text -> accepts(constraint, text));
        assertThat(List.of("", "x", "x</p></p>", "</p>x")).noneMatch(text -> accepts(constraint, text));
        State start = constraint.start();
        for (int octet : new int[] {0x80, 0xC0, 0xC1, 0xF5, 0xFF}) {
            assertThat(start.advance(octet)).as("%x", octet).isNull();
        }
        State surrogate = Objects.requireNonNull(start.advance(0xED));
        assertThat(surrogate.advance(0xA0)).isNull();
    }

    @Test
    void jsonHasWhatStandsAroundIt() {
        Constraint constraint = compile(new Shape.Sequence(
                List.of(new Shape.Literal("<"), new Shape.Json(Map.of("type", "integer")), new Shape.Literal("0>"))));
        assertThat(List.of("<10>", "<-70>", "<00>")).allMatch(text -> accepts(constraint, text));
        assertThat(List.of("<0>", "<010>", "<1>", "<>")).noneMatch(text -> accepts(constraint, text));
    }

    @Test
    void pythonHasWordsOfItsOwn() {
        Map<String, Object> object =
                Map.of("type", "object", "additionalProperties", Map.of("type", List.of("boolean", "null")));
        Constraint constraint = compile(new Shape.Value(object, Shape.Spelling.PYTHON, ""));
        assertThat(List.of("{}", "{\"True\": True, \"n\\\"\": None}", "{\"true\":False}"))
                .allMatch(text -> accepts(constraint, text));
        assertThat(List.of("{\"a\":true}", "{\"a\":null}", "{\"a\":Nope}", "{\"a\":Tru", "{\"a\":TRUE}"))
                .noneMatch(text -> accepts(constraint, text));
    }

    @Test
    void marksStandAroundTextsAndKeysAreBare() {
        Map<String, Object> schema = Map.of(
                "type",
                "object",
                "properties",
                Map.of("a", Map.of("type", "string"), "b-1", Map.of("type", List.of("array", "null"))),
                "additionalProperties",
                false);
        Constraint constraint = compile(new Shape.Value(schema, Shape.Spelling.MARKED, "<e>"));
        assertThat(List.of(
                        "{}", "{a:<e><e>}", "{a:<e>x\"\\\n<<e>,b-1:[]}", "{b-1:None}", "{b-1:null}", "{b-1:[1,{x:2}]}"))
                .allMatch(text -> accepts(constraint, text));
        assertThat(List.of(
                        "{\"a\":<e><e>}",
                        "{a:\"\"}",
                        "{a:x}",
                        "{ }",
                        "{b-1:Nope}",
                        "{a:<e><e><e>}",
                        "{<e>a<e>:<e><e>}"))
                .noneMatch(text -> accepts(constraint, text));
        Map<String, Object> other =
                Map.of("type", "object", "required", List.of("a b"), "properties", Map.of("a b", Map.of("const", 1)));
        Constraint marked = compile(new Shape.Value(other, Shape.Spelling.MARKED, "<e>"));
        assertThat(accepts(marked, "{<e>a b<e>:1}")).isTrue();
        assertThat(accepts(marked, "{a b:1}")).isFalse();
    }

    @Test
    void theWorkOfAStepIsBounded() {
        var limits = new GrammarLimits(1 << 20, 100_000, 300, 0, 100_000);
        Map<String, Object> schema = Map.of("type", "string", "pattern", "^[ab]*a[ab]{9}$");
        Constraint constraint = new ShapeCompiler(SpecialOctets.none(), new int[0], List.of(), limits)
                .compile(new Shape.Sequence(List.of(new Shape.Literal("x"), new Shape.Json(schema))));
        assertThat(accepts(constraint, "x\"bbbaabbaabbaaaabbaabababbbabaabababbbb\""))
                .isTrue();
        constraint.beginStep();
        assertThatThrownBy(() -> accepts(constraint, "x\"abbbaabbaabbaaaabbaabababbbabaababbabbab\""))
                .isInstanceOf(GrammarException.class);
        constraint.endStep();
    }

    @Test
    void whatCannotBeHeldToASchemaIsRefused() {
        var marked = new Shape.Value(Map.of("const", "<e>"), Shape.Spelling.MARKED, "<e>");
        assertThatThrownBy(() -> compile(marked)).isInstanceOf(GrammarException.class);
        var bounded = new Shape.ParameterText(Map.of("type", "string", "maxLength", 3), "<");
        assertThatThrownBy(() -> compile(bounded)).isInstanceOf(GrammarException.class);
    }
}
