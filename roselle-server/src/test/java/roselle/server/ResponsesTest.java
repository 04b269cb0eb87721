package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.server.config.ServerConfig;
import tools.jackson.databind.JsonNode;

final class ResponsesTest {
    private static final String FOX =
            "\"model\":\"demo\",\"temperature\":0,\"max_output_tokens\":20,\"input\":\"Tell me a story about a fox.\"";

    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    private static JsonNode respond(String fields) {
        var response = demo.post("/v1/responses", "{" + fields + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }

    private static String text(JsonNode response) {
        return response.at("/output/0/content/0/text").stringValue();
    }

    private static String chat(String messages) {
        var response = demo.post(
                "/v1/chat/completions",
                "{\"model\":\"demo\",\"temperature\":0,\"max_tokens\":20,\"messages\":[" + messages + "]}");
        return DemoServer.json(response.body()).at("/choices/0/message/content").stringValue();
    }

    private static String message(String role, String content) {
        return "{\"role\":\"%s\",\"content\":%s}".formatted(role, DemoServer.MAPPER.writeValueAsString(content));
    }

    @Test
    void answersAsAChatWould() {
        JsonNode response = respond(FOX);

        assertThat(text(response)).isEqualTo(chat(message("user", "Tell me a story about a fox.")));
        assertThat(response.at("/object").stringValue()).isEqualTo("response");
        assertThat(response.at("/status").stringValue()).isEqualTo("incomplete");
        assertThat(response.at("/incomplete_details/reason").stringValue()).isEqualTo("max_output_tokens");
        assertThat(response.at("/output/0/role").stringValue()).isEqualTo("assistant");
        assertThat(response.at("/usage/output_tokens").intValue()).isEqualTo(20);
    }

    @Test
    void tellsTheItemsThatItWasAskedWith() {
        String id = respond("\"max_output_tokens\":1,\"input\":[" + message("user", "Hi") + ",{\"id\":\"msg_own\","
                        + "\"role\":\"assistant\",\"content\":\"Yes?\"},{\"type\":\"message\","
                        + "\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Go on.\"}]}]")
                .at("/id")
                .stringValue();
        JsonNode all = items(id, "?order=asc");
        JsonNode page = items(id, "?limit=1&after=msg_own");

        assertThat(all.at("/data")
                        .valueStream()
                        .map(item -> item.at("/content/0/text").stringValue()))
                .containsExactly("Hi", "Yes?", "Go on.");
        assertThat(all.at("/data")
                        .valueStream()
                        .map(item -> item.at("/content/0/type").stringValue()))
                .containsExactly("input_text", "output_text", "input_text");
        assertThat(all.at("/data/1/id").stringValue()).isEqualTo("msg_own");
        assertThat(items(id, "").at("/first_id")).isEqualTo(all.at("/data/2/id"));
        assertThat(page.at("/data")).hasSize(1);
        assertThat(page.at("/data/0")).isEqualTo(all.at("/data/0"));
        assertThat(page.at("/has_more").booleanValue()).isFalse();
        assertThat(items(id, "?limit=2").at("/has_more").booleanValue()).isTrue();
    }

    private static JsonNode items(String id, String query) {
        var response = demo.get("/v1/responses/" + id + "/input_items" + query);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }

    @Test
    void refusesPagesThatAreNoneAndToCancelWhatIsComplete() {
        String id = respond(FOX).at("/id").stringValue();

        for (String query :
                java.util.List.of("limit=0", "limit=101", "limit=x", "order=up", "after=msg_none", "include=x")) {
            var refused = demo.get("/v1/responses/" + id + "/input_items?" + query);
            assertThat(refused.statusCode()).as(query).isEqualTo(400);
            assertThat(DemoServer.json(refused.body()).at("/error/param").stringValue())
                    .isEqualTo(query.substring(0, query.indexOf('=')));
        }
        assertThat(demo.get("/v1/responses/resp_none/input_items").statusCode()).isEqualTo(404);
        assertThat(demo.post("/v1/responses/" + id + "/cancel", "").statusCode())
                .isEqualTo(400);
        assertThat(demo.post("/v1/responses/resp_none/cancel", "").statusCode()).isEqualTo(404);
        assertThat(demo.post("/v1/responses/" + id, "").statusCode()).isEqualTo(405);
    }

    private static String state(JsonNode response) {
        return response.at("/status").stringValue();
    }

    private static JsonNode kept(DemoServer server, String id) {
        return DemoServer.json(server.get("/v1/responses/" + id).body());
    }

    @Test
    void isMadeInTheBackgroundAndAskedForById() {
        JsonNode queued = respond(FOX + ",\"background\":true");
        String id = queued.at("/id").stringValue();
        assertThat(state(queued)).isEqualTo("queued");
        assertThat(queued.at("/background").booleanValue()).isTrue();
        assertThat(queued.at("/output")).isEmpty();

        DemoServer.await(() -> !Set.of("queued", "in_progress").contains(state(kept(demo, id))));
        JsonNode made = kept(demo, id);
        assertThat(state(made)).isEqualTo("incomplete");
        assertThat(made.at("/created_at")).isEqualTo(queued.at("/created_at"));
        assertThat(text(made)).isEqualTo(text(respond(FOX)));
        assertThat(DemoServer.json(
                        demo.post("/v1/responses/" + id + "/cancel", "").body()))
                .isEqualTo(made);
        assertThat(state(respond("\"input\":\"And?\",\"max_output_tokens\":1,\"previous_response_id\":\"" + id + "\"")))
                .isEqualTo("incomplete");
    }

    @Test
    void isCancelledInTheBackground() {
        var pace = new Pace();
        try (var held = new DemoServer(ServerConfig.DEFAULT, pace)) {
            pace.hold();
            String asked = "{" + FOX + ",\"background\":true}";
            String id = DemoServer.json(held.post("/v1/responses", asked).body())
                    .at("/id")
                    .stringValue();
            String gone = DemoServer.json(held.post("/v1/responses", asked).body())
                    .at("/id")
                    .stringValue();
            var early = held.post("/v1/responses", "{\"input\":\"b\",\"previous_response_id\":\"" + id + "\"}");
            assertThat(early.statusCode()).isEqualTo(400);
            assertThat(DemoServer.json(early.body()).at("/error/param").stringValue())
                    .isEqualTo("previous_response_id");

            JsonNode cancelled = DemoServer.json(
                    held.post("/v1/responses/" + id + "/cancel", "").body());
            assertThat(state(cancelled)).isEqualTo("cancelled");
            var removal = HttpRequest.newBuilder(held.at("/v1/responses/" + gone))
                    .DELETE()
                    .build();
            assertThat(held.send(removal).statusCode()).isEqualTo(200);
            pace.go();

            DemoServer.await(() -> held.engine().status().running() == 0);
            assertThat(kept(held, id)).isEqualTo(cancelled);
            assertThat(held.get("/v1/responses/" + gone).statusCode()).isEqualTo(404);
        }
    }

    @Test
    void goesOnFromAnEarlierResponseButNotWithItsInstructions() {
        JsonNode first = respond(FOX + ",\"instructions\":\"Be short.\"");

        JsonNode second =
                respond("\"model\":\"demo\",\"temperature\":0,\"max_output_tokens\":20,\"input\":\"And then?\","
                        + "\"previous_response_id\":\"" + first.at("/id").stringValue() + "\"");

        assertThat(text(second))
                .isEqualTo(chat(message("user", "Tell me a story about a fox.") + ","
                        + message("assistant", text(first)) + "," + message("user", "And then?")));
        assertThat(second.at("/previous_response_id")).isEqualTo(first.at("/id"));
        assertThat(second.at("/instructions").isNull()).isTrue();
    }

    @Test
    void whatIsNotStoredIsNotThere() {
        JsonNode response = respond(FOX + ",\"store\":false");

        var next = demo.post(
                "/v1/responses",
                "{\"model\":\"demo\",\"input\":\"x\",\"previous_response_id\":\""
                        + response.at("/id").stringValue() + "\"}");

        assertThat(next.statusCode()).isEqualTo(404);
        assertThat(DemoServer.json(next.body()).at("/error/code").stringValue()).isEqualTo("response_not_found");
        assertThat(DemoServer.json(next.body()).at("/error/param").stringValue())
                .isEqualTo("previous_response_id");
    }

    @Test
    void aStoredResponseIsFoundUntilItIsRemoved() {
        JsonNode response = respond(FOX);
        String path = "/v1/responses/" + response.at("/id").stringValue();

        assertThat(DemoServer.json(demo.get(path).body())).isEqualTo(response);

        assertThat(demo.get(path + "?stream=true").statusCode()).isEqualTo(400);

        var removal = HttpRequest.newBuilder(demo.at(path)).DELETE().build();
        assertThat(DemoServer.json(demo.send(removal).body()).at("/deleted").booleanValue())
                .isTrue();
        assertThat(demo.get(path).statusCode()).isEqualTo(404);
    }

    @Test
    void streamsNumberedEventsWhoseDeltasAreTheText() {
        String whole = text(respond(FOX));
        var response = demo.post("/v1/responses", "{" + FOX + ",\"stream\":true}");

        List<JsonNode> events = new ArrayList<>();
        for (String event : response.body().split("\n\n")) {
            String[] lines = event.split("\n");
            JsonNode data = DemoServer.json(lines[1].substring("data: ".length()));
            assertThat(lines[0]).isEqualTo("event: " + data.at("/type").stringValue());
            assertThat(data.at("/sequence_number").intValue()).isEqualTo(events.size());
            events.add(data);
        }

        List<String> types =
                events.stream().map(event -> event.at("/type").stringValue()).toList();
        assertThat(types.subList(0, 4))
                .containsExactly(
                        "response.created",
                        "response.in_progress",
                        "response.output_item.added",
                        "response.content_part.added");
        assertThat(types.subList(types.size() - 4, types.size()))
                .containsExactly(
                        "response.output_text.done",
                        "response.content_part.done",
                        "response.output_item.done",
                        "response.incomplete");
        String deltas = events.stream()
                .filter(event -> event.at("/type").stringValue().endsWith("delta"))
                .map(event -> event.at("/delta").stringValue())
                .collect(Collectors.joining());
        assertThat(deltas).isEqualTo(whole);
        assertThat(text(events.getLast().at("/response"))).isEqualTo(whole);
    }

    @Test
    void itemsOfAnEarlierAnswerMayComeBackAsTheyWere() {
        JsonNode first = respond(FOX);

        JsonNode second = respond("\"model\":\"demo\",\"temperature\":0,\"max_output_tokens\":20,\"input\":["
                + "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Tell me a story about a fox.\"}]},"
                + first.at("/output/0") + "," + message("user", "And then?") + "]");

        assertThat(text(second))
                .isEqualTo(chat(message("user", "Tell me a story about a fox.") + ","
                        + message("assistant", text(first)) + "," + message("user", "And then?")));
    }

    @Test
    void logprobsComeWhereTheyAreIncluded() {
        JsonNode response = respond(FOX + ",\"include\":[\"message.output_text.logprobs\"],\"top_logprobs\":2");

        JsonNode logprobs = response.at("/output/0/content/0/logprobs");
        assertThat(logprobs).hasSize(20);
        assertThat(logprobs.get(0).at("/top_logprobs")).hasSize(2);
        assertThat(logprobs.get(0).at("/logprob").asDouble()).isLessThanOrEqualTo(0);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', textBlock = """
            "model":"demo"                                                               | input
            "model":"demo","input":[]                                                    | input
            "model":"demo","input":7                                                     | input
            "model":"demo","input":[{"type":"reasoning"}]                                | input
            "model":"demo","input":[{"type":"item_reference","id":"x"}]                  | input[0].type
            "model":"demo","input":[{"type":"reasoning","encrypted_content":"x"}]        | input[0].encrypted_content
            "model":"demo","input":[{"type":"reasoning","summary":[{"type":"a"}]}]       | input[0].summary
            "model":"demo","input":[{"type":"function_call","call_id":"1","name":"f","arguments":"[]"}] | input[0].arguments
            "model":"demo","input":[{"type":"function_call_output","call_id":"1","output":[{"type":"input_image"}]}] | input[0].output[0].type
            "model":"demo","input":[{"role":"king","content":"a"}]                       | input[0].role
            "model":"demo","input":[{"role":"user","content":[{"type":"input_image"}]}]  | input[0].content[0].type
            "model":"demo","input":"a","background":true,"stream":true                   | stream
            "model":"demo","input":"a","background":true,"store":false                   | store
            "model":"demo","input":"a","truncation":"auto"                               | truncation
            "model":"demo","input":"a","tool_choice":"required"                          | tool_choice
            "model":"demo","input":"a","tools":[{"type":"web_search"}]                   | tools[0].type
            "model":"demo","input":"a","tools":[{"type":"function","name":"f","strict":7}] | tools[0].strict
            "model":"demo","input":"a","tools":[{"type":"function","name":"f","strict":true,"parameters":{"pattern":"("}}] | tools
            "model":"demo","input":"a","tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]} | tool_choice
            "model":"demo","input":"a","tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"g"}]} | tool_choice
            "model":"demo","input":"a","text":{"format":{"type":"xml"}}                  | text.format.type
            "model":"demo","input":"a","include":["file_search_call.results"]            | include
            "model":"demo","input":"a","max_output_tokens":0                             | max_output_tokens
            "model":"demo","input":"a","reasoning":{"effort":"vast"}                     | reasoning.effort
            "model":"demo","input":"a","reasoning":{"summary":"detailed"}                | reasoning.summary
            "model":"demo","input":"a","text":{"verbosity":"low"}                        | text.verbosity
            "model":"demo","input":"a","moderation":{}                                   | moderation
            "model":"demo","input":"a","context_management":[]                           | context_management
            "model":"demo","input":"a","conversation":"c"                                | conversation
            "model":"demo","input":"a","colour":"red"                                    | colour
            """)
    void aFaultyRequestIsRefusedByName(String fields, String parameter) {
        var response = demo.post("/v1/responses", "{" + fields + "}");

        assertThat(response.statusCode()).isEqualTo(400);
        JsonNode error = DemoServer.json(response.body()).at("/error");
        assertThat(error.at("/param").asString("null")).isEqualTo(parameter);
        assertThat(error.at("/message").stringValue()).isNotBlank();
    }
}
