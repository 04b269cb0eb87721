package roselle.structured;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.conversation.format.Shape;
import roselle.conversation.format.Shape.Literal;
import roselle.conversation.format.Shape.Mark;
import roselle.conversation.format.Shape.Triggered;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.State;
import roselle.grammar.mask.TokenMasks;
import roselle.grammar.mask.Vocabulary;

/** A mask of a shape allows exactly the tokens whose bytes it takes one by one, marks in the middle of tokens among them. */
final class ShapeMasksTest {
    private static final int WALKS = 6;
    private static final int MAX_TOKENS = 60;
    private static final int SPECIAL = 400; // and the one after it
    private static final String[] PIECES = {
        "<tool>",
        "<too",
        "l>",
        "<",
        ">",
        "a<tool",
        "ol>{",
        "x<tool>{\"",
        "<tool>{\"a",
        "}</tool> and",
        "</tool>",
        "</",
        "</end>",
        "the",
        " the",
        "The end",
        "\n\n",
        "\n</p>",
        "</p>",
        "</p>\n",
        "p>",
        "{\"",
        "\": ",
        "true",
        "}",
        "{",
        " {",
        "\n {",
        "12",
        "ä",
        "äö",
        "😀",
        "\u2028",
        "é<to",
        "stop",
        "sto",
        "ops",
        "functools",
        "tools[",
        "func",
        "[",
        "]",
        "\", \"",
        "the\", \"the",
        ", \"the\", ",
        ",1",
        "1,1",
        ",1,12,1",
        "1,12",
        "\"}",
        "0",
        "1, ",
        "abc</p>x",
        "x</p>\n"
    };

    private static final Vocabulary VOCABULARY = vocabulary();
    private static final int SIZE = 402;

    private static Vocabulary vocabulary() {
        var tokens = new ArrayList<byte[]>();
        for (int octet = 0; octet < 255; octet++) {
            tokens.add(new byte[] {(byte) octet});
        }
        for (String piece : PIECES) {
            tokens.add(piece.getBytes(StandardCharsets.UTF_8));
        }
        while (tokens.size() < SPECIAL - 1) {
            tokens.add(new byte[0]);
        }
        tokens.add(new byte[0]); // ends answers
        tokens.add(SpecialOctets.of(SPECIAL));
        tokens.add(SpecialOctets.of(SPECIAL + 1));
        return new Vocabulary(tokens.toArray(new byte[0][]), new int[] {SPECIAL - 1});
    }

    private static final Shape OBJECT = new Shape.Json(Map.of("type", "object"));

    private static final Map<String, Object> NAMED = Map.of(
            "type",
            "object",
            "properties",
            Map.of(
                    "the",
                    Map.of("type", "string", "maxLength", 5),
                    "abc",
                    Map.of("enum", List.of("the", "\"a\\\n", 12)),
                    "true",
                    Map.of("type", "array", "items", Map.of("type", "string"))),
            "required",
            List.of("abc"));

    private static final Map<String, Object> PATTERNED = Map.of(
            "type", "object", "patternProperties", Map.of("^[ax<]+$", Map.of("type", List.of("string", "null"))));

    private static final Map<String, Object> DIFFERENT = Map.of(
            "type",
            "array",
            "uniqueItems",
            true,
            "maxItems",
            9,
            "items",
            Map.of("enum", List.of("the", "abc", "a", 1, 12, true)));

    private static Shape sequence(Shape... parts) {
        return new Shape.Sequence(List.of(parts));
    }

    private static Shape triggered(String barred, boolean mustCome, Mark... marks) {
        return new Triggered(List.of(marks), List.of("stop", "<|no|>"), List.of(), barred, mustCome);
    }

    static Stream<Shape> shapes() {
        Shape tool = sequence(OBJECT, new Literal("</tool>"));
        Shape value = sequence(new Literal("\": "), new Shape.Json(Map.of("type", "integer")), new Literal("}"));
        return Stream.of(
                triggered("", false, new Mark("<tool>", tool)),
                triggered("{[", true, new Mark("<tool>", tool), new Mark("functools", value)),
                triggered(
                        "",
                        true,
                        new Mark("<|call|>", tool),
                        new Mark("<|call|>the", value),
                        new Mark("tools[", value)),
                new Shape.Choice(List.of(triggered("{", false, new Mark("</end>", tool)), OBJECT)),
                sequence(new Shape.FreeText(List.of("</p>", "<tool>")), new Literal("\n</p>\n")),
                sequence(new Shape.FreeText(List.of("</p>")), new Literal("x")),
                sequence(new Shape.FreeText(List.of("<|call|>x")), new Literal("\n<|call|>the")),
                sequence(new Shape.FreeText(List.of()), value),
                new Shape.Repeated(new Shape.Choice(List.of(new Literal("the"), tool)), ", ", 0, Integer.MAX_VALUE),
                new Shape.Value(Map.of(), Shape.Spelling.PYTHON, ""),
                new Shape.Value(Map.of(), Shape.Spelling.MARKED, "<|call|>"),
                new Shape.Value(NAMED, Shape.Spelling.MARKED, "<|call|>"),
                new Shape.Value(NAMED, Shape.Spelling.MARKED, "</p>"),
                sequence(new Shape.Value(PATTERNED, Shape.Spelling.MARKED, "</p>"), new Literal("</p>x")),
                sequence(new Shape.Json(DIFFERENT), new Literal("</p>")),
                sequence(new Shape.Choice(List.of(new Shape.Json(DIFFERENT), OBJECT, new Literal("the")))),
                new Shape.Choice(List.of(
                        sequence(new Shape.Json(DIFFERENT), new Literal("x")),
                        sequence(new Shape.Json(DIFFERENT), new Literal("0")))),
                new Shape.Value(DIFFERENT, Shape.Spelling.PYTHON, ""),
                new Shape.Value(DIFFERENT, Shape.Spelling.MARKED, "<|call|>"),
                sequence(new Shape.Json(Map.of("type", "integer")), new Shape.Choice(List.of(new Literal("0"), tool))));
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void maskAndStepsAgree(Shape shape) {
        var special = SpecialOctets.of(Map.of("<|call|>", SPECIAL, "<|no|>", SPECIAL + 1));
        var constraint = new ShapeCompiler(special, new int[0], List.of(), GrammarLimits.DEFAULTS).compile(shape);
        for (int walk = 0; walk < WALKS; walk++) {
            var masks = new TokenMasks(constraint, VOCABULARY);
            walk(masks, new Random(walk));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'any_text','max_chars':7}",
                "{'type':'tag','begin':'<','content':{'type':'any_text','max_chars':9,'max_tokens':5},'end':'</p>'}",
                "{'type':'tag','begin':'<','content':{'type':'any_text','max_tokens':3,'excludes':['abc']},'end':['</p>x','the']}",
                "{'type':'sequence','elements':[{'type':'any_text','max_tokens':2},{'type':'json_schema','json_schema':{'type':'object'}}]}",
                "{'type':'sequence','elements':[{'type':'any_tokens','max_tokens':2,'exclude_tokens':['<|call|>']},"
                        + "{'type':'exclude_token'},{'type':'const_string','value':'the end'}]}"
            })
    void maskAndStepsAgreeWithinLimits(String format) {
        String tag = "{'type':'structural_tag','format':" + format + "}";
        var special = SpecialOctets.of(Map.of("<|call|>", SPECIAL, "<|no|>", SPECIAL + 1));
        var constraint =
                new StructuralTags(special, new int[0], GrammarLimits.DEFAULTS).compile(tag.replace('\'', '"'));
        for (int walk = 0; walk < WALKS; walk++) {
            walk(new TokenMasks(constraint, VOCABULARY), new Random(walk));
        }
    }

    private static void walk(TokenMasks masks, Random random) {
        State state = masks.matcher().state();
        for (int step = 0; step < MAX_TOKENS; step++) {
            Set<Integer> allowed = allowed(masks.mask(state).bits());
            Set<Integer> taken = new LinkedHashSet<>();
            for (int token = 0; token < SIZE; token++) {
                if (masks.advance(state, token) != null) {
                    taken.add(token);
                }
            }
            assertThat(allowed).isEqualTo(taken);
            assertThat(taken).as("a dead end").isNotEmpty();
            List<Integer> pieces = taken.stream().filter(token -> token >= 255).toList();
            List<Integer> from = pieces.isEmpty() || random.nextInt(4) == 0 ? List.copyOf(taken) : pieces;
            int token = from.get(random.nextInt(from.size()));
            if (VOCABULARY.isEnd(token)) {
                return;
            }
            state = Objects.requireNonNull(masks.advance(state, token));
        }
    }

    private static Set<Integer> allowed(long[] bits) {
        Set<Integer> allowed = new LinkedHashSet<>();
        for (int token = 0; token < SIZE; token++) {
            if ((bits[token >>> 6] & 1L << token) != 0) {
                allowed.add(token);
            }
        }
        return allowed;
    }
}
