package roselle.structured.type;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import roselle.api.ResponseFormat;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.mask.TokenMask;
import roselle.grammar.mask.TokenMasks;
import roselle.grammar.mask.TokenMatcher;
import roselle.grammar.mask.Vocabulary;
import roselle.grammar.schema.SchemaOptions;

/** Answers drawn at random under the masks of a type, by a model that knows nothing. */
final class Walks {
    private static final int END = 256;
    private static final int LONG_ENOUGH = 120; // tokens, behind which a walk looks for its end
    private static final int TOO_LONG = 20_000;
    private static final List<String> PIECES = List.of(
            "\":",
            "\": ",
            "\",",
            "\", \"",
            "\"}",
            "\"]",
            "\"},",
            "{\"",
            "[\"",
            " \"",
            ",\"",
            "},",
            "]}",
            "{}",
            "[]",
            ":\"",
            "\n  ",
            "\\n",
            "\\\"",
            "\\u00e4",
            "\\u00",
            "true",
            "false",
            "null",
            ", ",
            "ä",
            "日本",
            "😀",
            " the",
            "12",
            "3.5",
            "e-",
            "0.",
            "c0",
            "c1\":",
            "type",
            "2024-",
            "-01-",
            "T00:",
            "00Z",
            "PT1H",
            "abc",
            "http://a",
            "\\ud83d\\ude00",
            "0.0");
    private static final byte[][] TOKENS = tokens();
    private static final Vocabulary VOCABULARY = new Vocabulary(TOKENS, new int[] {END});

    private Walks() {}

    static TokenMasks masks(AnswerType<?> type) {
        SchemaOptions usual = SchemaOptions.GENERATING;
        var options = new SchemaOptions(
                usual.whitespace(), usual.allowsAnyEscape(), SchemaOptions.KeyOrder.SCHEMA, true, usual.documents());
        assertThat(type.format())
                .isEqualTo(new ResponseFormat.JsonSchema(
                        type.schema(),
                        new ResponseFormat.JsonOptions(
                                ResponseFormat.Whitespace.BOUNDED, ResponseFormat.KeyOrder.SCHEMA)));
        return new TokenMasks(Constraints.jsonSchema(type.schema(), options, GrammarLimits.DEFAULTS), VOCABULARY);
    }

    static String walk(TokenMasks masks, Random random) {
        TokenMatcher matcher = masks.matcher();
        var text = new ByteArrayOutputStream();
        for (int i = 0; ; i++) {
            assertThat(i).as("the walk ends: %s", text).isLessThan(TOO_LONG);
            int token = choose(matcher.mask(), random, i > LONG_ENOUGH);
            assertThat(matcher.advance(token)).isTrue();
            if (token == END) {
                return text.toString(StandardCharsets.UTF_8);
            }
            text.writeBytes(TOKENS[token]);
        }
    }

    private static int choose(TokenMask mask, Random random, boolean isToEnd) {
        boolean isHurried = isToEnd || random.nextInt(4) == 0;
        boolean isInString = mask.allows('q') || mask.allows('~'); // where brackets do not close
        for (int closing : isInString ? new int[] {'"'} : new int[] {END, '}', ']', 'n', '"'}) {
            if (isHurried && mask.allows(closing)) {
                return closing;
            }
        }
        int wanted = random.nextInt(mask.count());
        for (int token = 0; ; token++) {
            if (mask.allows(token) && wanted-- == 0) {
                return token;
            }
        }
    }

    private static byte[][] tokens() {
        byte[][] tokens = new byte[END + 1 + PIECES.size()][];
        for (int octet = 0; octet < END; octet++) {
            tokens[octet] = new byte[] {(byte) octet};
        }
        tokens[END] = new byte[0];
        for (int i = 0; i < PIECES.size(); i++) {
            tokens[END + 1 + i] = PIECES.get(i).getBytes(StandardCharsets.UTF_8);
        }
        return tokens;
    }
}
