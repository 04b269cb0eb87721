package roselle.grammar.mask;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.schema.SchemaOptions;

/** A mask, however it was found, allows exactly the tokens whose bytes the state takes one by one. */
class MasksAgreeTest {
    private static final int WALKS = 12;
    private static final int MAX_TOKENS = 60;

    private final Vocabulary vocabulary = vocabulary();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"type\":\"string\"}",
                "{\"type\":\"string\",\"minLength\":3,\"maxLength\":5}",
                "{\"type\":\"string\",\"maxLength\":2}",
                "{\"pattern\":\"^[A-Za-z0-9_-]{1,9}$\",\"type\":\"string\"}",
                "{\"pattern\":\"^[a-z]+$\",\"type\":\"string\",\"not\":{\"enum\":[\"ab\",\"the\"]}}",
                "{\"pattern\":\"[0-9]\",\"type\":\"string\"}",
                "{\"pattern\":\"^[^/]+/[^/]*$\",\"type\":\"string\"}",
                "{\"pattern\":\"^(?:\\\\S+\\\\s+){0,2}\\\\S+$\",\"type\":\"string\"}",
                "{\"pattern\":\"^(?:\\\\S+\\\\s+){0,9}\\\\S+$\",\"type\":\"string\",\"maxLength\":30}",
                "{\"pattern\":\"^(?:\\\\S+\\\\s+)*\\\\S+$\",\"type\":\"string\",\"maxLength\":300}",
                "{\"pattern\":\"^$|(^(?:\\\\S+\\\\s+){0,14}\\\\S+$)\",\"type\":\"string\",\"maxLength\":90}",
                "{\"pattern\":\"^[a-z_ -]{1,50}\\\\S{3}$\",\"type\":\"string\",\"maxLength\":48}",
                "{\"pattern\":\"^(the|.{2,30}e{4})*[^,]{0,25}(,.*)?$\",\"type\":\"string\"}",
                "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"th\":{\"type\":\"string\"}}},\"uniqueItems\":true,\"minItems\":2,\"maxItems\":4}",
                "{\"pattern\":\"^\\\\s*[^\\\\sa]+\\\\s?$\",\"type\":\"string\"}",
                "{\"pattern\":\"^[^a]*b[^b]*$\",\"type\":\"string\",\"maxLength\":40}",
                "{\"pattern\":\"the|an/[0-9]+\",\"type\":\"string\"}",
                "{\"pattern\":\"^..(-|T)..:[A-Za-z]+[0-9].\\\\S{2}$\",\"type\":\"string\"}",
                "{\"pattern\":\"^...[\u00e0-\u00f5x].[^\u3000-]?$\",\"type\":\"string\"}",
                "{\"type\":\"object\",\"oneOf\":[{\"properties\":{\"a\":{},\"k\":{}},\"required\":[\"k\"]},{\"properties\":{\"the\":{\"const\":true},\"a\":{}},\"additionalProperties\":false},{\"properties\":{\"b\":{\"type\":\"null\"}},\"required\":[\"b\",\"a\"]}],\"maxProperties\":4}",
                "{\"oneOf\":[{\"pattern\":\"the\"},{\"pattern\":\"an\"},{\"pattern\":\"b-\"}],\"type\":\"string\"}",
                "{\"type\":\"object\",\"patternProperties\":{\"^th\":{\"type\":\"null\"},\"an\":{\"type\":\"integer\"}},\"additionalProperties\":{\"type\":\"string\"}}",
                "{\"oneOf\":[{\"pattern\":\"then\"},{\"pattern\":\"and.\"},{\"pattern\":\"\\\\$the\"},{\"pattern\":\"n\\\"\"}],\"type\":\"string\"}",
                "{\"type\":\"object\",\"patternProperties\":{\"the(a|n)\":{},\"an[a-z]\":{\"type\":\"null\"},\"t_[a-z]+[0-9]\":{\"type\":\"integer\"}}}",
                "{\"type\":\"object\",\"patternProperties\":{\"th\":{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"a\"]},\"an\":{\"type\":\"object\",\"maxProperties\":0},\"3\":{}}}",
                "{\"type\":\"object\",\"properties\":{\"the\":{\"type\":\"null\"}},\"patternProperties\":{\"^[a-n]+$\":{\"type\":\"null\"},\"e\":{\"type\":\"integer\"}},\"additionalProperties\":{\"type\":\"null\"},\"minProperties\":3}",
                "{\"type\":\"object\",\"patternProperties\":{\"^[a-n]+$\":{\"type\":\"null\"},\"b\":{\"type\":[\"null\",\"integer\"]},\"[0-9]\":{\"type\":\"array\"}},\"additionalProperties\":false}",
                "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"patternProperties\":{\"th\":{},\"an\":{\"type\":\"null\"}}},\"uniqueItems\":true}",
                "{\"type\":\"object\",\"oneOf\":[{\"properties\":{\"k\":{\"const\":\"the\"}},\"required\":[\"k\"]},{\"properties\":{\"k\":{\"enum\":[\"then\",\"a\"]},\"b\":{\"type\":\"null\"}},\"required\":[\"k\"]},{\"properties\":{\"k\":{\"enum\":[\"a\",\"ab\"]}},\"required\":[\"k\",\"b\"]}]}",
                "{\"type\":\"object\",\"properties\":{\"a\":{\"oneOf\":[{\"type\":\"integer\",\"minimum\":0,\"maximum\":12},{\"type\":\"number\",\"minimum\":3},{\"enum\":[3,120]}]}},\"required\":[\"a\"]}",
                "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{},\"k\":{},\"the\":{},\"th\":{}},\"oneOf\":[{\"required\":[\"k\"]},{\"required\":[\"th\",\"a\"]}],\"not\":{\"required\":[\"b\",\"k\"]},\"additionalProperties\":false}",
                "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"null\"},\"b\":{},\"k\":{\"enum\":[1,2]},\"the\":{\"type\":\"null\"}},\"anyOf\":[{\"required\":[\"k\"],\"properties\":{\"k\":{\"const\":2}}},{\"minProperties\":3,\"maxProperties\":3}],\"dependentRequired\":{\"b\":[\"the\"]},\"additionalProperties\":false}",
                "{\"allOf\":[{\"enum\":[\"the\",\"then\",\"an\",\"b\"]},{\"not\":{\"enum\":[\"then\",\"ab\"]}},{\"enum\":[\"the\",\"then\",\"b\"]}]}",
                "{\"pattern\":\"[0-9]+-the\",\"type\":\"string\",\"minLength\":9}",
                "{\"pattern\":\"[0-9a-f]+\",\"type\":\"string\",\"minLength\":7,\"maxLength\":7}",
                "{\"pattern\":\"^[a-z ]+$\",\"type\":\"string\",\"minLength\":5,\"maxLength\":12}",
                "{\"pattern\":\"^[a-z]+\\\\.the$\",\"type\":\"string\",\"minLength\":8}",
                "{\"pattern\":\"^(an)*$\",\"type\":\"string\",\"minLength\":5,\"maxLength\":9}",
                "{\"pattern\":\"^(the|a)+$\",\"type\":\"string\",\"minLength\":6,\"maxLength\":8}",
                "{\"pattern\":\"the\",\"type\":\"object\",\"propertyNames\":{\"pattern\":\"e\",\"minLength\":4},\"minProperties\":1}",
                "{\"pattern\":\"[a-n]+-([a-n]+3)+[a-n]\",\"type\":\"string\"}",
                "{\"allOf\":[{\"pattern\":\"the.*-\"},{\"pattern\":\"[0-9]b\"}],\"type\":\"string\",\"minLength\":9,\"maxLength\":40}",
                "{\"oneOf\":[{\"properties\":{\"k\":{\"type\":\"string\",\"pattern\":\"[a-n]+-(the|b)\"}},\"required\":[\"k\"]},{\"properties\":{\"k\":{\"type\":\"string\"}},\"required\":[\"k\",\"a\"]}],\"type\":\"object\"}",
                "{\"pattern\":\"^(the|then|an?|b-[ab]?)$\",\"type\":\"string\"}",
                "{\"oneOf\":[{\"properties\":{\"k\":{\"pattern\":\"^the$\"}},\"required\":[\"k\"]},{\"properties\":{\"k\":{\"pattern\":\"^(an|the)$\"},\"b\":{\"type\":\"null\"}},\"required\":[\"k\",\"b\"]}],\"properties\":{\"k\":{\"type\":\"string\"}},\"additionalProperties\":false}",
                "{\"type\":\"string\",\"not\":{\"minLength\":3,\"maxLength\":8},\"maxLength\":20}",
                "{\"type\":\"string\",\"not\":{\"pattern\":\"the[0-9]\"},\"pattern\":\"(an)?-\"}",
                "{\"format\":\"date-time\",\"type\":\"string\"}",
                "{\"format\":\"uuid\",\"type\":\"string\"}",
                "{\"format\":\"uri-reference\",\"type\":\"string\"}",
                "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"null\"},\"propertyNames\":{\"format\":\"ipv4\"},\"minProperties\":1}",
                "{\"type\":\"array\",\"items\":{\"format\":\"date\",\"type\":\"string\"},\"uniqueItems\":true,\"minItems\":2}",
                "{\"pattern\":\"^.*$\",\"type\":\"string\"}",
                "{\"pattern\":\"^(?!.*the).*$\",\"type\":\"string\"}",
                "{\"pattern\":\"^[0-9a-f]{2,4}$\",\"type\":\"string\"}",
                "{\"not\":{\"pattern\":\"^the$\"},\"type\":\"string\"}",
                "{\"not\":{\"pattern\":\"^[a-z]*$\"},\"type\":\"string\"}",
                "{\"format\":\"email\",\"type\":\"string\"}",
                "{\"format\":\"uri\",\"type\":\"string\",\"maxLength\":20}",
                "{\"enum\":[\"the\",\"then\",\"a\\\"b\",\"\u00e4\",\"\",1,null]}",
                "{\"type\":\"integer\",\"minimum\":0,\"maximum\":120}",
                "{\"type\":\"number\",\"exclusiveMinimum\":-1.5}",
                "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}",
                "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"uniqueItems\":true},\"uniqueItems\":true}",
                "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"null\"}},\"uniqueItems\":true}",
                "{\"type\":\"array\",\"items\":{\"anyOf\":[{\"type\":\"string\",\"maxLength\":3},{\"type\":\"array\"}]},\"minItems\":1,\"maxItems\":3}",
                "{\"type\":\"object\",\"properties\":{\"the\":{\"type\":\"string\"},\"then\":{\"type\":\"integer\"},\"a\":{}},\"required\":[\"the\"]}",
                "{\"type\":\"object\",\"properties\":{\"the\":{\"type\":\"string\"},\"ab\":{\"type\":\"boolean\"}},\"additionalProperties\":false}",
                "{\"type\":\"object\",\"patternProperties\":{\"^[a-z]{1,20}$\":{\"type\":\"null\"}},\"additionalProperties\":{\"type\":\"string\"}}",
                "{\"type\":\"object\",\"propertyNames\":{\"maxLength\":4},\"minProperties\":2}",
                "{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"a\"}},\"required\":[\"k\"]},{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"b\"},\"n\":{\"type\":\"array\"}},\"required\":[\"k\",\"n\"]}]}",
                "{\"type\":\"array\",\"items\":{\"enum\":[\"the\",\"then\"]},\"uniqueItems\":true}",
                "{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"integer\"],\"maximum\":4},\"uniqueItems\":true,\"minItems\":3}",
                "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[ab,]+$\"},\"uniqueItems\":true,\"minItems\":3,\"maxItems\":5}",
                "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true,\"minItems\":2}}",
                "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[ab]$\"},\"uniqueItems\":true}",
                "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^(a|the.*)$\"},\"uniqueItems\":true,\"minItems\":3,\"maxItems\":6}",
                "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-e]$\"},\"uniqueItems\":true,\"minItems\":2}",
                "{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"integer\"],\"maxLength\":1},\"uniqueItems\":true,\"contains\":{\"const\":\"a\"}}",
                "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"additionalProperties\":false},\"uniqueItems\":true}",
                "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}},\"additionalProperties\":{\"type\":\"null\"}},\"uniqueItems\":true,\"maxItems\":3}",
                "{\"type\":\"array\",\"items\":{\"enum\":[[],[\"a\"],\"\"]},\"uniqueItems\":true}",
                "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"maxProperties\":1},\"uniqueItems\":true}",
                "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"uniqueItems\":true},\"uniqueItems\":true}",
                "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":true},{\"enum\":[true,false]}]},\"uniqueItems\":true}}",
            })
    void maskAndStepsAgree(String schema) {
        walk(Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS), schema);
    }

    @ParameterizedTest
    @ValueSource(strings = {"[a-z]+( [a-z]+)*", "(?!the$).*", "(the|then) [^t]*", ".{0,12}", "[^\\n]*\\n", "[\\s\\S]*"})
    void maskAndStepsOfTextsAgree(String expression) {
        walk(Constraints.regex(expression, GrammarLimits.DEFAULTS), expression);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "root ::= root \",\" item | item\nitem ::= \"[\" root \"]\" | [a-z]+ | [0-9]+",
                "root ::= \"the\" (\" \" root)? | \"{\" [^}]* \"}\" root \"a\"",
                "root ::= s\ns ::= s s | \"a\" | \"ab\" | \"b\" s \"\"",
            })
    void maskAndStepsOfGrammarsAgree(String grammar) {
        walk(Constraints.gbnf(grammar, GrammarLimits.DEFAULTS), grammar);
    }

    @Test
    void masksOfOneVocabularyAreShared() {
        TokenMask one = first("{\"type\":\"object\"}");
        assertThat(first("{\"type\":\"object\",\"properties\":{\"a\":{}}}")).isSameAs(one);
        assertThat(first("{\"type\":\"array\"}")).isNotSameAs(one);
    }

    @Test
    void textsOfAFormatAreReadForAllConstraintsAlike() {
        assertThat(inText("{\"type\":\"string\",\"format\":\"uuid\"}"))
                .isSameAs(inText("{\"format\":\"uuid\",\"type\":[\"string\",\"null\"]}"));
        assertThat(inText("{\"type\":\"string\",\"format\":\"uuid\"}").isShared())
                .isTrue();
        assertThat(inText("{\"type\":\"string\",\"pattern\":\"^a\"}").isShared())
                .isFalse();
    }

    private static Lexeme inText(String schema) {
        Constraint constraint = Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS);
        return requireNonNull(constraint.start().advance('"')).lexeme(0);
    }

    private TokenMask first(String schema) {
        Constraint constraint = Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS);
        return new TokenMasks(constraint, vocabulary).matcher().mask();
    }

    private void walk(Constraint constraint, String what) {
        TokenMasks masks = new TokenMasks(constraint, vocabulary);
        Random random = new Random(5);
        for (int walk = 0; walk < WALKS; walk++) {
            TokenMatcher matcher = masks.matcher();
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < MAX_TOKENS; i++) {
                TokenMask mask = matcher.mask();
                compare(mask, matcher, what + " behind " + text);
                int token = choose(mask, random);
                if (vocabulary.isEnd(token)) {
                    break;
                }
                assertThat(matcher.advance(token)).isTrue();
                text.append(new String(vocabulary.bytes(token), StandardCharsets.UTF_8));
            }
        }
    }

    private void compare(TokenMask mask, TokenMatcher matcher, String what) {
        int count = 0;
        for (int token = 0; token < vocabulary.size(); token++) {
            boolean isTaken = matcher.advance(token);
            if (isTaken) {
                matcher.rollback(1);
                count++;
            }
            if (isTaken != mask.allows(token)) {
                String bytes = new String(vocabulary.bytes(token), StandardCharsets.UTF_8);
                assertThat(mask.allows(token))
                        .as("%s: token %d '%s'", what, token, bytes)
                        .isEqualTo(isTaken);
            }
        }
        assertThat(mask.count()).as("count, %s", what).isEqualTo(count);
        assertThat(count).as("a dead end, %s", what).isPositive();
    }

    private int choose(TokenMask mask, Random random) {
        long[] bits = mask.bits();
        int wanted = random.nextInt(mask.count());
        for (int token = 0; ; token++) {
            if ((bits[token >>> 6] & 1L << token) != 0 && wanted-- == 0) {
                return token;
            }
        }
    }

    /** All bytes, and pieces of words, numbers and JSON. */
    private static Vocabulary vocabulary() {
        Set<String> pieces = new LinkedHashSet<>(List.of(
                "\"",
                "\":",
                "\": ",
                "\",",
                "\", \"",
                "\"}",
                "\"]",
                "\",\"",
                "\",\"\"",
                "\",\"a",
                "\", \"the",
                "\",\"an\"",
                "b\",\"b",
                ",\",\"b\"",
                ",\",3",
                "\",3",
                "\"],\"th",
                "\\\",\"b",
                "],[",
                "[],[]",
                "\"\",\"\"]",
                "3,3]",
                "[],[]]",
                "3,4,3",
                "},{",
                "\":1,\"",
                "\":\"\",\"\"",
                "\"},",
                "{\"",
                "[\"",
                " \"",
                ",\"",
                "},",
                "]}",
                "{}",
                "[]",
                "[]}",
                ":\"",
                ": \"",
                "\n  ",
                "\\n",
                "\\\"",
                "\\u00",
                "e4",
                "true",
                "false",
                "null",
                "rue",
                " true",
                ", true",
                "true,",
                "true]",
                "ä",
                "äö",
                "\u2028",
                "a\u2028b",
                "\u3000",
                "日\u3000本",
                "\u00a0an",
                " \u2003the",
                "\u3001the",
                "\ufeff",
                "日本",
                " the",
                "the",
                "then",
                "ab",
                "abc",
                "the\"",
                "the\":",
                "a\":",
                "12",
                "120",
                ".5",
                "0.",
                "e-",
                "k\":",
                "\"the",
                "\"then\":",
                "a@b",
                ".com",
                "http",
                "://",
                "a/b",
                "x/",
                "0123456789abcdef"));
        String[] parts = {"th", "e", "an", "b", "3", "_", "-", "\"", ",", " ", "é", "/", "{", "\\", "\u3000", "語"};
        Random random = new Random(9);
        while (pieces.size() < 600) {
            StringBuilder piece = new StringBuilder();
            int count = pieces.size() < 560 ? 1 + random.nextInt(5) : 10 + random.nextInt(20); // bounds are felt late
            for (int i = 0; i < count; i++) {
                piece.append(parts[random.nextInt(parts.length)]);
            }
            pieces.add(piece.toString());
        }
        byte[][] tokens = new byte[257 + pieces.size() + 11][];
        for (int octet = 0; octet < 256; octet++) {
            tokens[octet] = new byte[] {(byte) octet};
        }
        tokens[256] = new byte[0];
        int id = 257;
        for (String piece : pieces) {
            tokens[id++] = piece.getBytes(StandardCharsets.UTF_8);
        }
        tokens[id++] = new byte[] {(byte) 0xE6, (byte) 0x97};
        tokens[id++] = new byte[] {'a', (byte) 0xE3, (byte) 0x80};
        tokens[id++] = new byte[] {(byte) 0x80, ' ', 't', 'h', 'e'};
        tokens[id++] = new byte[] {'b', (byte) 0xE2};
        tokens[id++] = new byte[] {'b', (byte) 0xC0, 'a'};
        tokens[id++] = new byte[] {(byte) 0xA5, 'a'};
        tokens[id++] = new byte[] {'b', (byte) 0xC3, 'a'}; // symbols that are never completed
        tokens[id++] = new byte[] {(byte) 0xC3, '"'};
        tokens[id++] = new byte[] {(byte) 0xE6, (byte) 0x97, 'a', 'b'};
        tokens[id++] = new byte[] {'t', (byte) 0xE3, (byte) 0xC3, (byte) 0xA4};
        tokens[id] = new byte[] {(byte) 0xF0, (byte) 0x9F, (byte) 0x98, '"', ','};
        return new Vocabulary(tokens, new int[] {256});
    }
}
