package roselle.structured;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.api.ResponseFormat;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallFormats;

/**
 * A made-up request for an answer of some form, and an answer to it.
 *
 * @param format of an answer that calls nothing
 * @param calls of one that may; null for none
 */
record RehearsedAnswer(ResponseFormat format, @Nullable HeldCalls calls, String text) {
    /** What the schemas of most requests are made of, and what they seldom have; a tilde stands for a number. */
    private static final String[] SCHEMAS = {"""
        {"type": "object", "additionalProperties": false, "required": ["name", "kind", "tags"], "properties": {
         "name": {"type": "string", "minLength": 3, "maxLength": 3~}, "kind": {"enum": ["small", "large ~"]},
         "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z ]+$"}, "minItems": 1, "maxItems": 3~},
         "size": {"type": "number", "minimum": 0},
         "at": {"type": "object", "properties": {"line": {"type": "integer"}, "note": {"type": "string"}}}}}
        """, """
        {"name": "An example of ~", "tags": ["red", "green and blue"], "size": 12.5, "kind": "small", "at": {"line": 17}}""", """
        {"$defs": {"line": {"type": "object", "additionalProperties": false, "required": ["what", "count"], "properties": {
          "what": {"type": "string"}, "count": {"type": "integer", "minimum": 1, "maximum": 5~}, "price": {"type": "number"}}}},
         "type": "object", "additionalProperties": false, "required": ["id", "date", "lines", "note"], "properties": {
         "id": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4,1~}$"}, "date": {"type": "string", "format": "date"},
         "mail": {"type": "string", "format": "email"}, "paid": {"type": "boolean"},
         "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
         "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 1}}}
        """, """
        {"id": "AB-01234", "date": "2024-02-29", "mail": "me@example.org", "paid": false, "note": null, \
        "lines": [{"what": "A table, 2 m", "count": 17, "price": 129.95}, {"what": "Chair", "count": 2}]}""", """
        {"oneOf": [
          {"properties": {"kind": {"const": "circle ~"}, "radius": {"type": "number", "exclusiveMinimum": 0}}, "required": ["radius"]},
          {"properties": {"kind": {"const": "box"}, "sides": {"type": "array", "items": {"type": "integer", "multipleOf": 2},
           "minItems": 2, "maxItems": 3~, "uniqueItems": true}}, "required": ["sides"]}],
         "type": "object", "required": ["kind"], "properties": {"label": {"type": "string", "not": {"enum": ["bad", "worse"]}}}}
        """, """
        {"kind": "box", "label": "the first", "sides": [12, 6, 8], "more": {"a": [true, null, -1.5e3], "b": "\\u00e4\\n"}}""", """
        {"type": "object", "patternProperties": {"^x_[a-z]{1,~}": {"type": "integer"}}, "propertyNames": {"maxLength": 4~},
         "properties": {"mode": {"enum": ["fast", "slow"]}, "list": {"type": "array", "contains": {"const": 7}}},
         "if": {"properties": {"mode": {"const": "fast"}}}, "then": {"required": ["speed"]}, "else": {"required": ["delay"]},
         "dependentRequired": {"speed": ["mode"]}, "allOf": [{"properties": {"speed": {"type": "integer"}}}],
         "minProperties": 2, "unevaluatedProperties": {"type": ["integer", "string"]}}
        """, """
        {"mode": "fast", "speed": ~, "x_a": 3, "list": [1, 7], "other": "text"}"""};

    private static final String TAG = """
            {"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<call="], "tags": [
             {"begin": "<call=find>", "end": "</call>", "content": {"type": "json_schema", "json_schema":
              {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3~}}, "required": ["n"]}}}]}}
            """;

    private static final String GBNF = """
            root ::= sum
            sum ::= part (("+" | "-") part)*
            part ::= [0-9]{1,1~} | [a-z] [a-z0-9_]* | "(" sum ")"
            """;

    private static final String LARK = """
            start: greeting ("," greeting)*
            greeting: /hel+o{1,~}/ NAME | "bye"
            NAME: /[A-Z][a-z]+/
            """;

    /** One answer of each form, with a number in it that makes it and what it is held to unlike those of other numbers. */
    static List<RehearsedAnswer> all(int number) {
        List<RehearsedAnswer> all = new ArrayList<>();
        for (int i = 0; i < SCHEMAS.length; i += 2) {
            all.add(held(
                    new ResponseFormat.JsonSchema(numbered(SCHEMAS[i], number)), numbered(SCHEMAS[i + 1], number)));
        }
        all.add(held(new ResponseFormat.JsonObject(), numbered(SCHEMAS[5], number)));
        all.add(held(
                new ResponseFormat.Regex(numbered("\\+?\\d{1,3} \\(\\d{3}\\) \\d{4}( ext\\. [a-z]{1,1~})?", number)),
                "+1 (555) 1234 ext. abc"));
        all.add(held(new ResponseFormat.Choice(texts(number)), "answer 17 of " + number));
        all.add(held(new ResponseFormat.Grammar(numbered(GBNF, number)), "(12+x_3)-alpha"));
        all.add(held(new ResponseFormat.Grammar(numbered(LARK, number)), "helloAnna,bye"));
        all.add(held(
                new ResponseFormat.StructuralTag(numbered(TAG, number)), "Let me see: <call=find>{\"n\": 3}</call>"));
        all.add(called("hermes", number, """
                <tool_call>
                {"name": "weather", "arguments": {"city": "San Francisco", "days": 3, "unit": "metric"}}
                </tool_call>"""));
        all.add(called("qwen3_coder", number, """
                <tool_call>
                <function=weather>
                <parameter=city>
                San Francisco
                </parameter>
                <parameter=days>
                3
                </parameter>
                </function>
                </tool_call>"""));
        all.add(called("olmo3", number, """
                <function_calls>
                weather(city="San Francisco", days=3)
                </function_calls>"""));
        all.add(free("hermes", number, "It is fine."));
        return all;
    }

    private static List<String> texts(int number) {
        return IntStream.range(0, 40)
                .mapToObj(i -> "answer " + i + " of " + number)
                .toList();
    }

    private static String numbered(String text, int number) {
        return text.replace("~", Integer.toString(number));
    }

    private static RehearsedAnswer held(ResponseFormat format, String text) {
        return new RehearsedAnswer(format, null, text);
    }

    private static RehearsedAnswer called(String format, int number, String text) {
        return new RehearsedAnswer(ResponseFormat.TEXT, calls(format, number, true), text);
    }

    /** Held to its format only if it calls. */
    private static RehearsedAnswer free(String format, int number, String text) {
        return new RehearsedAnswer(ResponseFormat.TEXT, calls(format, number, false), text);
    }

    private static HeldCalls calls(String name, int number, boolean mustCall) {
        CallFormat format = CallFormats.named(name).orElseThrow();
        Map<String, Object> properties = new LinkedHashMap<>(); // some formats keep their order
        properties.put("city", Map.of("type", "string"));
        properties.put("days", Map.of("type", "integer", "maximum", 10 + number));
        properties.put("unit", Map.of("enum", List.of("metric", "imperial")));
        Map<String, Object> parameters = Map.of(
                "type",
                "object",
                "properties",
                properties,
                "required",
                List.of("city", "days"),
                "additionalProperties",
                false);
        Map<String, Object> tool = Map.of(
                "type", "function", "function", Map.of("name", "weather", "parameters", parameters, "strict", true));
        return new HeldCalls(format, List.of(tool), true, mustCall, List.of(), ResponseFormat.TEXT);
    }
}
