package roselle.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.grammar.mask.TokenMask;
import roselle.grammar.mask.TokenMasks;
import roselle.grammar.mask.TokenMatcher;
import roselle.grammar.mask.Vocabulary;
import roselle.grammar.schema.SchemaOptions;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Whatever is drawn under the masks of a record's schema is JSON that Jackson reads and an independent validator finds valid. */
class RecordSchemasTest {
    private static final int WALKS = 20;
    private static final int LONG_ENOUGH = 150; // tokens, behind which a walk looks for its end
    private static final int TOO_LONG = 5_000;
    private static final int END = 256;
    private static final SchemaRegistry VALIDATORS =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();
    private static final byte[][] TOKENS = tokens();

    private final Vocabulary vocabulary = new Vocabulary(TOKENS, new int[] {END});

    @Test
    void walksUnderMasksAreValid() {
        for (int seed = 0; seed < 60; seed++) {
            check(seed);
        }
    }

    @Test
    @Tag("long")
    void walksUnderMasksOfAThousandSchemasAreValid() {
        for (int seed = 60; seed < 1_060; seed++) {
            check(seed);
        }
    }

    private void check(int seed) {
        Random random = new Random(seed);
        String schema = RandomRecords.schema(random);
        Schema validator = VALIDATORS.getSchema(JsonMapper.shared().readTree(schema));
        TokenMasks masks = new TokenMasks(
                Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS), vocabulary);
        for (int walk = 0; walk < WALKS; walk++) {
            String text = walk(masks.matcher(), random);
            JsonNode value = JSON.readTree(text);
            assertThat(validator.validate(exact(value)))
                    .as("seed %d, schema %s, text %s", seed, schema, text)
                    .isEmpty();
        }
    }

    /** The same value with its whole numbers as such: of 3e52 the validator makes a long, and throws. */
    private static JsonNode exact(JsonNode value) {
        return switch (value) {
            case ObjectNode object -> {
                ObjectNode copy = JSON.createObjectNode();
                object.forEachEntry((name, member) -> copy.set(name, exact(member)));
                yield copy;
            }
            case ArrayNode array -> {
                ArrayNode copy = JSON.createArrayNode();
                array.forEach(item -> copy.add(exact(item)));
                yield copy;
            }
            default -> {
                boolean isWhole = value.isNumber()
                        && value.decimalValue().stripTrailingZeros().scale() <= 0;
                yield isWhole
                        ? JSON.getNodeFactory().numberNode(value.decimalValue().toBigIntegerExact())
                        : value;
            }
        };
    }

    private static String walk(TokenMatcher matcher, Random random) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
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
        for (int closing : isInString ? new int[] {'"'} : new int[] {END, '}', ']', '"'}) {
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
        List<String> pieces = List.of(
                "\":", "\": ", "\",", "\", \"", "\"}", "\"]", "\"},", "{\"", "[\"", " \"", ",\"", "},", "]}", "{}",
                "[]", ":\"", "\n  ", "\\n", "\\\"", "\\u00e4", "true", "false", "null", ", ", "ä", "日本", " the", "the",
                "12", "3.5", "e-", "name", "id\":", "kind", "circle", "2024-", "-01-", "T00:", "00Z", "abc", "ABC-",
                "0.0");
        byte[][] tokens = new byte[END + 1 + pieces.size()][];
        for (int octet = 0; octet < END; octet++) {
            tokens[octet] = new byte[] {(byte) octet};
        }
        tokens[END] = new byte[0];
        for (int i = 0; i < pieces.size(); i++) {
            tokens[END + 1 + i] = pieces.get(i).getBytes(StandardCharsets.UTF_8);
        }
        return tokens;
    }
}
