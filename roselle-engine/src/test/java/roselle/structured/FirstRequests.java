package roselle.structured;

import java.util.List;
import java.util.Map;
import roselle.api.ResponseFormat;
import roselle.conversation.AnswerLead;
import roselle.conversation.format.CallFormats;
import roselle.tokenizer.EncodeOptions;

/** Requests that are none of those rehearsed, for a class loader that has not seen any. */
public final class FirstRequests {
    private static final String ORDER = """
            {"type": "object", "required": ["customer", "items"], "additionalProperties": false, "properties": {
             "customer": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "pattern": "^C[0-9]{3,8}$"},
              "since": {"type": "string", "format": "date-time"}, "level": {"type": ["integer", "null"], "maximum": 9}}},
             "items": {"type": "array", "minItems": 1, "maxItems": 20, "items": {"anyOf": [
              {"type": "string", "minLength": 2, "maxLength": 40}, {"type": "object", "properties": {"sku": {"const": "none"}}}]}}}}
            """;
    private static final String ORDERED = """
            {"customer": {"id": "C12345", "since": "2024-02-29T12:00:00Z", "level": null}, "items": ["pen", {"sku": "none"}]}""";

    private static final MadeUpTokenizer TOKENIZER = new MadeUpTokenizer();
    private static final CompiledFormats FORMATS =
            new CompiledFormats(TOKENIZER, TOKENIZER.vocabularySize(), new int[] {MadeUpTokenizer.END});

    private FirstRequests() {}

    public static void rehearse() {
        FORMATS.rehearse();
    }

    public static void ask() {
        follow(FORMATS.compile(new ResponseFormat.JsonSchema(ORDER)), ORDERED);
        follow(FORMATS.compile(new ResponseFormat.JsonObject()), ORDERED);
        follow(FORMATS.compile(new ResponseFormat.Regex("(ab|[c-e]{2,9})+ ?\\w*")), "abcde xyz_1");
        follow(FORMATS.compile(new ResponseFormat.Choice(List.of("left", "right"))), "left");
        follow(FORMATS.compile(new ResponseFormat.Grammar("root ::= \"a\" root \"b\" | [0-9]+")), "aa12bb");
        Map<String, Object> parameters =
                Map.of("type", "object", "properties", Map.of("query", Map.of("type", "string", "maxLength", 50)));
        Map<String, Object> tool =
                Map.of("type", "function", "function", Map.of("name", "search", "parameters", parameters));
        var calls = new HeldCalls(
                CallFormats.named("mistral").orElseThrow(), List.of(tool), false, true, List.of(), ResponseFormat.TEXT);
        follow(FORMATS.compileCalls(calls), "[TOOL_CALLS][{\"name\": \"search\"");
    }

    private static void follow(FormatMasks masks, String text) {
        var constraint = masks.begin(0, AnswerLead.none(TOKENIZER));
        int[] tokens = TOKENIZER.encode(text, EncodeOptions.PLAIN);
        for (int at = 0; at < tokens.length; at++) {
            long[] mask = constraint.mask(tokens, at);
            if ((mask[tokens[at] >>> 6] & 1L << tokens[at]) == 0) {
                throw new IllegalStateException("byte " + at + " of the tokens of " + text + " is not allowed");
            }
            constraint.isCompleteAfter(tokens, at + 1);
        }
    }
}
