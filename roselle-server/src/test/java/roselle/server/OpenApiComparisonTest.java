package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The OpenAPI document and the server's readers refuse the same bodies: every field of every object is left out and given values of
 * each type and at each bound, and both say what they think of it.
 */
@Tag("long")
final class OpenApiComparisonTest {
    private static final String CHAT = "/v1/chat/completions";

    private static final String TGI = """
            {"inputs":"a","parameters":{"max_new_tokens":1,"do_sample":true,"stop":["x"],"grammar":{"type":"regex","value":"[ab]+"}}}""";

    /** Bodies with a value that is right for every field, in one of them; what they ask for is made in no time. */
    private static final Map<String, List<String>> BODIES = OpenApiTest.joined(
            OpenApiTest.joined(
                    Map.of(
                            CHAT,
                            List.of("""
                {"messages":[{"role":"system","content":[{"type":"text","text":"x"}]},
                 {"role":"user","content":"x","name":"x"},
                 {"role":"assistant","content":"x","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},
                 {"role":"tool","tool_call_id":"1","content":"x"},{"role":"user","content":"Hi"}],
                 "tools":[{"type":"function","function":{"name":"f","description":"x","parameters":{},"strict":false}}],
                 "stream":true,"stream_options":{"include_usage":true},"response_format":{"type":"text"},
                 "stop":["x"],"stop_token_ids":[1],"logit_bias":{"1":1},"metadata":{"a":"b"},"max_tokens":1}""", """
                {"messages":[{"role":"user","content":"Hi"}],"logprobs":true,"max_tokens":1}"""),
                            "/v1/completions",
                            List.of("""
                {"prompt":"a","max_tokens":1,"stream":true,"stream_options":{"include_usage":true},"stop":["x"],
                 "stop_token_ids":[1],"logit_bias":{"1":1}}""", """
                {"prompt":["a","b"],"max_tokens":1}""", """
                {"prompt":[[1],[2]],"max_tokens":1}"""),
                            "/v1/responses",
                            List.of("""
                {"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[],"logprobs":[{}]}]},
                 {"type":"function_call","call_id":"1","name":"f","arguments":"{}"},
                 {"type":"reasoning","content":[{"type":"reasoning_text","text":"x"}]},
                 {"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"x"}]},
                 {"role":"user","content":[{"type":"input_text","text":"x"}]}],
                 "reasoning":{"effort":"none"},"tools":[{"type":"function","name":"f","description":"x","parameters":{},"strict":false}],
                 "text":{"format":{"type":"text"}},"stream":true,"stream_options":{"include_obfuscation":false},"metadata":{"a":"b"},
                 "max_output_tokens":1}""", """
                {"input":"a","max_output_tokens":1}"""),
                            "/v1/embeddings",
                            List.of("{\"input\":\"a\"}", "{\"input\":[\"a\",\"b\"]}", "{\"input\":[[1],[2]]}"),
                            "/tokenize",
                            List.of("{\"prompt\":\"a\"}", "{\"content\":\"a\"}", """
                {"messages":[{"role":"user","content":"x"},
                 {"role":"assistant","content":[{"type":"text","text":"x"}],"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},
                 {"role":"tool","tool_call_id":"1","content":"x"}],
                 "tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}"""),
                            "/detokenize",
                            List.of("{\"tokens\":[1]}"),
                            "/v1/messages",
                            List.of("""
                {"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],
                 "messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]},
                  {"role":"assistant","content":[{"type":"text","text":"x"},
                   {"type":"tool_use","id":"1","name":"f","input":{}}]},
                  {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}]}]},
                  {"role":"user","content":"x"}],
                 "tools":[{"name":"f","description":"x","input_schema":{},"strict":false,"cache_control":{"type":"ephemeral"}}],
                 "tool_choice":{"type":"auto","disable_parallel_tool_use":false},"cache_control":{"type":"ephemeral"},
                 "metadata":{"user_id":"x"},"output_config":{"effort":"high"},"thinking":{"type":"adaptive"},
                 "stop_sequences":["x"],"stream":true,"max_tokens":1}""", """
                {"messages":[{"role":"user","content":"x"}],"thinking":{"type":"enabled","budget_tokens":1024},
                 "stop_sequences":["a","e","o"],"max_tokens":1030}"""),
                            "/v1/messages/count_tokens",
                            List.of("""
                {"system":"x","messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":{}}],
                 "tool_choice":{"type":"tool","name":"f"},"output_config":{"format":{"type":"json_schema","schema":{}}}}"""),
                            "/api/chat",
                            List.of("""
                {"model":"demo","messages":[{"role":"system","content":"x"},{"role":"user","content":"x"},
                  {"role":"assistant","content":"x","tool_calls":[{"id":"1","function":{"name":"f","arguments":{}}}]},
                  {"role":"tool","tool_name":"f","content":"x"},{"role":"user","content":"x"}],
                 "tools":[{"type":"function","function":{"name":"f","description":"x","parameters":{},"strict":false}}],
                 "keep_alive":"5m","stream":false,"options":{"num_predict":1,"stop":["x"]}}""", """
                {"messages":[{"role":"user","content":"x"}],"logprobs":true,"stream":false,"options":{"num_predict":1}}"""),
                            "/api/generate",
                            List.of("""
                {"prompt":"x","system":"x","stream":false,"format":"","options":{"num_predict":1}}""", """
                {"prompt":"x","context":[1],"logprobs":true,"stream":false,"options":{"num_predict":1}}""")),
                    Map.of(
                            "/completion",
                            List.of("""
                        {"prompt":"a","n_predict":1,"stop":["x"],"logit_bias":{"1":1},"dry_sequence_breakers":["x"]}""", """
                        {"prompt":[1],"n_predict":1,"logit_bias":[[1,1]]}"""),
                            "/apply-template",
                            List.of("{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"),
                            "/generate",
                            List.of(TGI),
                            "/generate_stream",
                            List.of(
                                    "{\"inputs\":\"a\",\"parameters\":{\"max_new_tokens\":1,\"best_of\":1},\"stream\":true}"),
                            "/",
                            List.of("{\"inputs\":\"a\",\"parameters\":{\"max_new_tokens\":1},\"stream\":false}"))),
            KserveBodies.FILLED);

    /** Values of each type; numbers at the bounds of the document's schemas come to them. */
    private static final List<String> VALUES = List.of(
            "null",
            "true",
            "false",
            "0",
            "1",
            "-1",
            "0.5",
            "2.5",
            "\"\"",
            "\"a\"",
            "\"auto\"",
            "[]",
            "{}",
            "[null]",
            "[\"a\"]",
            "[1]",
            "[{}]",
            "[[]]",
            "{\"a\":1}",
            "{\"a\":\"b\"}",
            "{\"1\":1}",
            "{\"type\":\"text\"}");

    /** What refusals say of fields that do not go together, of texts within texts, and of what the model cannot do. */
    private static final List<String> BEYOND_SCHEMAS = List.of(
            "context_length_exceeded",
            "model_not_found",
            "response_not_found",
            "more than max_tokens",
            "send one of them",
            "all answers are returned",
            "is not the text of a JSON object",
            "the format cannot be kept to",
            "the format allows no text but the empty one",
            ".schema is there, but the type is text",
            "this server has room for",
            "the prompt has no tokens",
            "it must be less than max_tokens",
            "messages says nothing",
            "is not of a tool_use before it",
            "a tool_result must follow it",
            "it says how much to think",
            "there is no model",
            "but the context holds",
            "but options.num_ctx is",
            "penalties look at all tokens",
            "--context says how many",
            "the prompt is taken as it stands",
            "both say what the answer must look like",
            "the prompt has token id",
            "it chooses among answers that differ",
            "has no tokens to fill in text with",
            "a stream has one answer",
            "a response in the background is",
            "a stream does not tell of its prompt",
            "the element is among the bytes behind the JSON",
            "are left behind the JSON",
            ".data is missing",
            "the path names demo",
            "text_input is missing",
            "generate_stream streams",
            "the model's vectors have",
            "a model that generates has no tasks",
            "models stay while the server runs");

    /** A list as long takes long to read, and its bound is left to other tests. */
    private static final int MANY = 5000;

    private static DemoServer demo;
    private static Description description;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
        description = Description.of(demo);
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    static Stream<String> paths() {
        return BODIES.keySet().stream().sorted();
    }

    @ParameterizedTest
    @MethodSource("paths")
    void refuseTheSame(String path) {
        List<String> differences = new ArrayList<>();
        for (String body : BODIES.getOrDefault(path, List.of())) {
            for (JsonNode variant : variants(path, DemoServer.json(body).asObject())) {
                compare(path, variant, differences);
            }
        }
        assertThat(differences).isEmpty();
    }

    private static void compare(String path, JsonNode body, List<String> differences) {
        List<String> complaints = description.complaints(description.request(path), body);
        var response = demo.post(KserveBodies.url(path), body.toString());
        if (response.statusCode() == 200 && !complaints.isEmpty()) {
            differences.add("the document alone refuses " + body + ": " + complaints);
        } else if (response.statusCode() != 200 && complaints.isEmpty() && !isBeyondSchemas(response.body())) {
            differences.add("the server alone refuses " + body + ": " + response.body());
        }
    }

    private static boolean isBeyondSchemas(String refusal) {
        return BEYOND_SCHEMAS.stream().anyMatch(refusal::contains);
    }

    /** The body with each field that a schema knows left out, and set to each value, wherever there is an object for it. */
    private static List<JsonNode> variants(String path, ObjectNode body) {
        List<JsonNode> variants = new ArrayList<>();
        description.rules(description.request(path)).forEach((field, rules) -> {
            String[] steps = field.split("\\.");
            String name = steps[steps.length - 1];
            int objects = parents(body, steps).size();
            for (int index = 0; index < objects; index++) {
                var without = body.deepCopy();
                parents(without, steps).get(index).remove(name);
                variants.add(without);
                for (JsonNode value :
                        values(rules, parents(body, steps).get(index).path(name))) {
                    var variant = body.deepCopy();
                    parents(variant, steps).get(index).set(name, value);
                    variants.add(variant);
                }
            }
        });
        return variants;
    }

    /** The objects in which the last of the steps is a field. */
    private static List<ObjectNode> parents(JsonNode body, String[] steps) {
        List<JsonNode> found = List.of(body);
        for (int step = 0; step < steps.length - 1; step++) {
            String name = steps[step].replace("[]", "");
            boolean isList = steps[step].endsWith("[]");
            found = found.stream()
                    .map(node -> node.path(name))
                    .flatMap(node -> isList ? node.valueStream() : Stream.of(node))
                    .toList();
        }
        return found.stream()
                .filter(ObjectNode.class::isInstance)
                .map(ObjectNode.class::cast)
                .toList();
    }

    private static List<JsonNode> values(List<JsonNode> rules, JsonNode present) {
        Stream<JsonNode> bounds = rules.stream().flatMap(rule -> bounds(rule, present));
        return Stream.concat(VALUES.stream().map(DemoServer::json), bounds).toList();
    }

    /** Values at what a schema says is the least or the most, and beyond. */
    private static Stream<JsonNode> bounds(JsonNode rule, JsonNode present) {
        List<JsonNode> bounds = new ArrayList<>();
        for (String bound : List.of("minimum", "maximum")) {
            for (long beyond = -1; rule.has(bound) && beyond <= 1; beyond++) {
                BigDecimal number = rule.get(bound).decimalValue().add(BigDecimal.valueOf(beyond));
                bounds.add(DemoServer.json(number.toPlainString()));
            }
        }
        for (int beyond = 0; rule.has("maxLength") && beyond <= 1; beyond++) {
            bounds.add(DemoServer.json("\"" + "x".repeat(rule.get("maxLength").intValue() + beyond) + "\""));
        }
        for (int beyond = 0; rule.path("maxItems").asInt(MANY) < MANY && present.size() > 0 && beyond <= 1; beyond++) {
            ArrayNode list = DemoServer.MAPPER.createArrayNode();
            while (list.size() < rule.get("maxItems").intValue() + beyond) {
                list.add(present.path(0));
            }
            bounds.add(list);
        }
        return bounds.stream();
    }
}
