package roselle.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.State;
import roselle.grammar.schema.SchemaOptions;

/** What schemas accept, a row each: schema, texts accepted and texts refused, separated by a blank and a bar. */
class SchemaTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "{\"type\":\"integer\"}; 1 | -20 | 0 | 1.0 | 2e3 ; 1.5 | 01 | true | \"1\"",
                "{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"type\":\"integer\"}; 1 | -20 ; 1.0 | 2e3 | \"1\"",
                "{\"type\":[\"null\",\"boolean\"]}; null | true | false ; 0 | {} | []",
                "{\"minimum\":5,\"exclusiveMaximum\":7.5}; 5 | 7.4999 | 5e0 | \"x\" ; 4.9 | 7.5 | 7.50 | 1e1 | -6",
                "{\"type\":\"number\",\"multipleOf\":0.01}; 1.25 | 3 | 0.1 | -0.07 ; 0.001 | 1.255",
                "{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}; \"ab\" | \"abc\" | \"ä\\ud83d\\ude00\" ; \"a\" | \"abcd\"",
                "{\"pattern\":\"^a+$\",\"maxLength\":2,\"type\":\"string\"}; \"a\" | \"aa\" ; \"aaa\" | \"b\" | \"\"",
                "{\"enum\":[1,\"a\",null,[1],{\"b\":2}]}; 1 | 1.0 | \"a\" | null | [1] | {\"b\":2} ; 2 | \"b\" | [2] | {\"b\":3} | {}",
                "{\"const\":{\"a\":[true]}}; {\"a\":[true]} ; {\"a\":[false]} | {\"a\":[true],\"b\":1}",
                "{\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]}; {\"a\":1} | {\"b\":{},\"a\":2} | 3 ; {} | {\"a\":\"\"}",
                "{\"additionalProperties\":false,\"properties\":{\"a\":true,\"b\":true}}; {} | {\"b\":1,\"a\":2} ; {\"c\":1} | {\"a\":1,\"a\":2}",
                "{\"type\":\"object\"}; {\"x\":1,\"y\":2} | {} ; {\"x\":1,\"x\":2} | {\"x\":1,\"\\u0078\":2}",
                "{\"patternProperties\":{\"^x\":{\"type\":\"null\"}},\"additionalProperties\":{\"type\":\"string\"}}; {\"x1\":null,\"y\":\"\"} ; {\"x\":\"\"} | {\"y\":null}",
                "{\"propertyNames\":{\"maxLength\":2},\"maxProperties\":2}; {\"ab\":1,\"c\":2} ; {\"abc\":1} | {\"a\":1,\"b\":2,\"c\":3}",
                "{\"dependentRequired\":{\"a\":[\"b\"]}}; {\"a\":1,\"b\":2} | {\"b\":1} ; {\"a\":1}",
                "{\"dependentSchemas\":{\"a\":{\"maxProperties\":1}}}; {\"a\":1} | {\"b\":1,\"c\":2} ; {\"a\":1,\"b\":1}",
                "{\"prefixItems\":[{\"type\":\"null\"}],\"items\":{\"type\":\"integer\"}}; [] | [null] | [null,1,2] ; [1] | [null,null]",
                "{\"items\":{\"type\":\"integer\"},\"minItems\":1,\"maxItems\":2}; [1] | [1,2] ; [] | [1,2,3] | [\"\"]",
                "{\"contains\":{\"const\":1},\"minContains\":2,\"maxContains\":2}; [1,0,1] | [1,1] ; [1] | [1,1,1] | []",
                "{\"uniqueItems\":true}; [1,2,\"1\"] | [{\"a\":1},{\"a\":2}] ; [1,1.0] | [{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}] | [[\"x\"],[\"x\"]]",
                "{\"items\":{\"enum\":[1,2]},\"uniqueItems\":true}; [1,2] | [2] ; [1,2,1] | [1,1]",
                "{\"not\":{\"type\":\"object\"}}; 1 | [] ; {}",
                "{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}; 1 | 2.5 ; 3 | 1.5",
                "{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}],\"type\":\"object\"}; {\"a\":1} | {\"b\":1} | {\"a\":1,\"b\":1} ; {} | {\"c\":1}",
                "{\"if\":{\"properties\":{\"k\":{\"const\":1}},\"required\":[\"k\"]},\"then\":{\"required\":[\"x\"]},\"else\":{\"required\":[\"y\"]}}; {\"k\":1,\"x\":0} | {\"k\":2,\"y\":0} | {\"y\":1} ; {\"k\":1,\"y\":0} | {}",
                "{\"allOf\":[{\"properties\":{\"a\":true}},{\"anyOf\":[{\"properties\":{\"b\":true},\"required\":[\"b\"]},true]}],\"unevaluatedProperties\":false}; {\"a\":1,\"b\":1} | {\"a\":1} ; {\"c\":1}",
                "{\"prefixItems\":[true],\"contains\":{\"type\":\"string\"},\"unevaluatedItems\":false}; [1,\"a\"] | [\"x\"] ; [1,2] | [1,\"a\",2]",
                "{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":{\"properties\":{\"n\":{\"$ref\":\"#/$defs/t\"}},\"additionalProperties\":false}}}; {\"n\":{\"n\":{}}} | {} ; {\"n\":{\"m\":1}}",
                "{\"format\":\"date\"}; \"2024-02-29\" | 5 ; \"2023-02-29\" | \"2024-13-01\"",
                "{\"format\":\"date-time\"}; \"2024-02-29T23:59:59Z\" | \"2024-02-01T00:00:00.5+01:00\" ; \"2024-02-30T00:00:00Z\" | \"2024-02-01T24:00:00Z\"",
                "{\"format\":\"idn-hostname\"}; \"a。α͵β\" | \"・ぁ\" | \"א׳ב\" ; \"・\" | \"͵β\" | \"l·a\"",
                "{\"format\":\"uri-template\"}; \"a'b\" | \"{x}\" ; \"{x\"",
                "{\"format\":\"ipv6\"}; \"::1\" | \"1:2:3:4:5:6:7:8\" ; \"1:2\" | \"::g\"",
                "{}; {\"a\":[1,\"b\",null]} | -0.5e-3 | \"\\u0000\\u00ff\" ; {a:1} | [1,] | \"\\ud800\" | nul",
            })
    void acceptsWhatIsValidAndNothingElse(String schema, String accepted, String refused) {
        check(
                Constraints.jsonSchema(schema, SchemaOptions.CHECKING, GrammarLimits.DEFAULTS),
                schema,
                accepted,
                refused);
    }

    private static void check(Constraint constraint, String schema, String accepted, String refused) {
        for (String text : accepted == null ? new String[0] : accepted.split(" \\| ")) {
            assertThat(accepts(constraint, text))
                    .as("%s accepts %s", schema, text)
                    .isTrue();
        }
        for (String text : refused.split(" \\| ")) {
            assertThat(accepts(constraint, text))
                    .as("%s refuses %s", schema, text)
                    .isFalse();
        }
    }

    @Test
    void boundsWhitespaceAndSpellingsWhileGenerating() {
        Constraint constraint = generating("{\"properties\":{\"a\":{}},\"required\":[\"a\"],\"type\":\"object\"}");
        assertThat(accepts(constraint, "{\"a\": 1, \"b\": [1, 2]}")).isTrue();
        assertThat(accepts(constraint, "{\n  \"a\": {\n    \"ö\": \"\\u00f6\\n\"\n  }\n}"))
                .isTrue();
        assertThat(accepts(constraint, "{  \"a\":1}")).isFalse();
        assertThat(accepts(constraint, "{\"\\u0061\":1}")).isFalse();
        assertThat(accepts(constraint, "{\"a\":1} ")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{\"type\":\"integer\"}; 5 | -12 | 0 ; 5.0 | 0.0 | 1.5",
                "{\"type\":\"integer\",\"minimum\":-3}; -3 | 4 ; -4 | 4.0",
                "{\"type\":\"integer\",\"enum\":[1.0,2]}; 1 | 2 ; 1.0 | 3",
                "{\"type\":\"number\"}; 5 | 5.0 | 1.5e3 ; 05",
                // An integer is one, however it is spelled: both of two is not one of two.
                "{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}; 1.5 ; 5 | 5.0",
                "{\"type\":\"number\",\"not\":{\"type\":\"integer\"}}; 1.5 ; 5 | 5.0",
                "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"number\",\"minimum\":9}]}; 5 | 9.0 | 9.5 ; 8.5",
            })
    void spellsIntegersWithoutAPointWhileGenerating(String schema, String accepted, String refused) {
        check(generating(schema), schema, accepted, refused);
    }

    @Test
    void keepsTheOrderOfTheSchemaWhereAsked() {
        SchemaOptions options =
                new SchemaOptions(SchemaOptions.Whitespace.NONE, false, SchemaOptions.KeyOrder.SCHEMA, true, Map.of());
        Constraint constraint = Constraints.jsonSchema(
                "{\"properties\":{\"b\":{},\"a\":{},\"c\":{}},\"required\":[\"a\"],\"type\":\"object\"}",
                options,
                GrammarLimits.DEFAULTS);
        assertThat(accepts(constraint, "{\"b\":1,\"a\":2,\"c\":3,\"x\":4}")).isTrue();
        assertThat(accepts(constraint, "{\"a\":2}")).isTrue();
        assertThat(accepts(constraint, "{\"a\":2,\"b\":1}")).isFalse();
        assertThat(accepts(constraint, "{\"c\":2,\"a\":1}")).isFalse();
    }

    @Test
    void refusesWhatIsNotUnderstoodWithItsPlace() {
        assertThatThrownBy(() ->
                        generating("{\"properties\":{\"a/b\":{\"pattern\":\"(a)\\\\1\"}},\"required\":[\"a/b\"]}"))
                .isInstanceOfSatisfying(GrammarException.class, refusal -> {
                    assertThat(refusal.pointer()).isEqualTo("/properties/a~1b");
                    assertThat(refusal.keyword()).isEqualTo("pattern");
                    assertThat(refusal.reason()).isEqualTo(GrammarException.Reason.UNSUPPORTED);
                });
        assertThatThrownBy(() -> generating("{\"$ref\":\"http://example.org/other\"}"))
                .isInstanceOf(GrammarException.class);
        assertThatThrownBy(() -> generating("{\"allOf\":[{\"$ref\":\"#\"}]}")).isInstanceOf(GrammarException.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "^[a-z]+[.]the$; 8; 9; 'abcd.the'; 'abc.t'",
                "^[a-z]+$; 3; 4; 'abc'; 'abcde'",
                "b; 3; 3; 'aab'; 'aaa'",
                "^(ab)+$; 3; 5; 'abab'; 'ababa'"
            })
    void noTextIsBegunThatCannotBecomeLongOrShortEnough(
            String pattern, int minLength, int maxLength, String begun, String refused) {
        Constraint constraint = generating("{\"type\":\"string\",\"pattern\":\"" + pattern + "\",\"minLength\":"
                + minLength + ",\"maxLength\":" + maxLength + "}");
        assertThat(isBegun(constraint, '"' + begun)).isTrue();
        assertThat(isBegun(constraint, '"' + refused)).isFalse();
    }

    private static boolean isBegun(Constraint constraint, String text) {
        State state = constraint.start();
        for (int i = 0; i < text.length() && state != null; i++) {
            state = state.advance(text.charAt(i));
        }
        return state != null;
    }

    @Test
    void saysThatNothingIsValid() {
        for (String schema : new String[] {
            "false",
            "{\"type\":\"integer\",\"minimum\":5.1,\"maximum\":5.9}",
            "{\"type\":\"number\",\"minimum\":0,\"maximum\":10,\"not\":{\"maximum\":1e308}}",
            "{\"type\":\"number\",\"maximum\":1e9,\"minimum\":2,\"not\":{\"maximum\":1e9,\"minimum\":2}}",
            "{\"type\":\"string\",\"pattern\":\"^a$\",\"minLength\":2}",
            "{\"type\":\"string\",\"enum\":[\"a\",\"b\"],\"allOf\":[{\"enum\":[\"b\",\"c\"]},{\"not\":{\"const\":\"b\"}}]}",
            "{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":false}}",
            "{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":{\"$ref\":\"#\"}}}",
            "{\"type\":\"array\",\"items\":{\"enum\":[1,2]},\"uniqueItems\":true,\"minItems\":3}",
        }) {
            assertThatThrownBy(() -> generating(schema))
                    .as(schema)
                    .isInstanceOfSatisfying(
                            GrammarException.class,
                            refusal -> assertThat(refusal.reason()).isEqualTo(GrammarException.Reason.EMPTY));
        }
    }

    @Test
    void answersHostileSchemasWithinTheirBudget() {
        StringBuilder branches = new StringBuilder("{\"type\":\"integer\"}");
        for (int i = 0; i < 30; i++) {
            branches.insert(0, "{\"oneOf\":[")
                    .append(",{\"minimum\":")
                    .append(i)
                    .append("}]}");
        }
        String[] schemas = {
            branches.toString(),
            "{\"type\":\"array\",\"maxItems\":9223372036854775808}",
            "{\"type\":\"array\",\"minItems\":9223372036854775807}",
            "{\"type\":\"string\",\"pattern\":\"(.*a){12}b\"}",
            "{\"type\":\"string\",\"maxLength\":2147483648}",
            "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
        };
        for (String schema : schemas) {
            try {
                State at = generating(schema).start();
                assertThat(at.isAccepting()).isFalse();
            } catch (GrammarException refusal) {
                assertThat(refusal.reason()).as(schema).isNotNull();
            }
        }
    }

    private static Constraint generating(String schema) {
        return Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS);
    }

    private static boolean accepts(Constraint constraint, String text) {
        State at = constraint.start();
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            at = at.advance(octet & 0xFF);
            if (at == null) {
                return false;
            }
        }
        return at.isAccepting();
    }

    @Test
    void aMetaschemaSaysWhichKeywordsMeanSomething() {
        String uri = "https://example.org/meta";
        String vocabularies = "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$vocabulary\":{"
                + "\"https://json-schema.org/draft/2020-12/vocab/core\":true,\"https://example.org/units\":%s,"
                + "\"https://json-schema.org/draft/2020-12/vocab/applicator\":true}}";
        String schema = "{\"$schema\":\"" + uri
                + "\",\"properties\":{\"a\":false,\"b\":{\"minimum\":10,\"$id\":\"b\"},"
                + "\"c\":{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"c\",\"minimum\":10}}}";
        Constraint given = withDocument(schema, uri, vocabularies.formatted("false"));
        check(given, schema, "{\"b\":1} | {\"c\":10}", "{\"a\":1} | {\"c\":9}");
        String embedded = schema.substring(0, schema.length() - 1) + ",\"$defs\":{\"m\":"
                + vocabularies.formatted("false").replaceFirst("\\{", "{\"\\$id\":\"" + uri + "\",") + "}}";
        check(withDocument(embedded, "", ""), embedded, "{\"b\":1} | {\"c\":10}", "{\"a\":1} | {\"c\":9}");
        check(withDocument(schema, "", ""), schema, "{\"b\":10}", "{\"b\":1}");
        assertThatThrownBy(() -> withDocument(schema, uri, vocabularies.formatted("true")))
                .isInstanceOf(GrammarException.class)
                .hasMessageContaining("https://example.org/units");
    }

    private static Constraint withDocument(String schema, String uri, String document) {
        SchemaOptions usual = SchemaOptions.CHECKING;
        Map<String, String> documents = uri.isEmpty() ? Map.of() : Map.of(uri, document);
        var options = new SchemaOptions(usual.whitespace(), true, usual.keyOrder(), true, documents);
        return Constraints.jsonSchema(schema, options, GrammarLimits.DEFAULTS);
    }
}
