package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.InvalidRequestException;
import roselle.api.ResponseFormat;
import roselle.api.ResponseFormat.JsonOptions;
import roselle.api.ResponseFormat.KeyOrder;
import roselle.api.ResponseFormat.Whitespace;
import roselle.backend.Device;
import roselle.cpu.CpuDevice;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.execution.QueuedDevice;
import roselle.testing.AheadDevices;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Answers keep to the format that is asked for, whatever the model would rather say, and however they run. */
final class ResponseFormatTest {
    private static final Path DEMO = Path.of("../roselle-engine/src/test/resources/demo-model");
    private static final JsonMapper JSON = new JsonMapper();
    private static final String INVOICE = """
            {"type": "object", "additionalProperties": false, "required": ["number", "paid", "lines"], "properties": {
             "number": {"type": "integer", "minimum": 1, "maximum": 9999},
             "paid": {"type": "boolean"},
             "customer": {"type": "string", "maxLength": 12},
             "lines": {"type": "array", "maxItems": 2, "items": {"type": "object", "required": ["price"],
              "additionalProperties": false, "properties": {"price": {"type": "number"}, "unit": {"enum": ["kg", "m"]}}}}}}""";

    private static Engine engine;

    /** What one request was told. */
    private record Told(List<String> texts, String thoughts, List<List<Integer>> ids, List<FinishReason> reasons) {
        String text() {
            return texts.getFirst();
        }

        FinishReason reason() {
            return reasons.getFirst();
        }
    }

    @BeforeAll
    static void open() {
        engine = Engine.open(config());
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    private static EngineConfig config() {
        return TestConfig.of(DEMO).with(new BatchOptions(512, 16, 64, 0, 100));
    }

    private static GenerationRequestBuilder request(ResponseFormat format) {
        return GenerationRequest.builder()
                .user("Write.")
                .seed(1)
                .temperature(1)
                .maxTokens(300)
                .format(format);
    }

    private static Told told(Engine engine, GenerationRequest request) {
        try (var generation = engine.submit(request)) {
            return told(generation);
        }
    }

    private static Told told(Generation generation) {
        Map<Integer, StringBuilder> texts = new TreeMap<>();
        Map<Integer, List<Integer>> ids = new TreeMap<>();
        var thoughts = new StringBuilder();
        List<FinishReason> reasons = List.of();
        for (GenerationEvent event : generation) {
            switch (event) {
                case TokenGenerated token -> {
                    texts.computeIfAbsent(token.choice(), _ -> new StringBuilder())
                            .append(token.text());
                    ids.computeIfAbsent(token.choice(), _ -> new ArrayList<>()).add(token.id());
                }
                case ChoiceEnded end ->
                    texts.computeIfAbsent(end.choice(), _ -> new StringBuilder())
                            .append(end.text());
                case Reasoning thought -> thoughts.append(thought.text());
                case Finished finished -> reasons = finished.reasons();
                case Failed failed -> throw new AssertionError(failed.message());
                default -> throw new AssertionError(event.toString());
            }
        }
        return new Told(
                texts.values().stream().map(StringBuilder::toString).toList(),
                thoughts.toString(),
                List.copyOf(ids.values()),
                reasons);
    }

    @Test
    void everyAnswerIsJsonOfTheSchemaHoweverHotTheDraw() {
        int whole = 0;
        for (int seed = 0; seed < 12; seed++) {
            Told told = told(
                    engine,
                    request(new ResponseFormat.JsonSchema(INVOICE))
                            .seed(seed)
                            .temperature(1 + seed % 4)
                            .build());
            if (told.reason() == FinishReason.LENGTH) {
                continue; // whitespace and digits take their turns
            }
            whole++;
            JsonNode invoice = JSON.readTree(told.text());
            assertThat(invoice.get("number").intValue()).as(told.text()).isBetween(1, 9999);
            assertThat(invoice.get("paid").isBoolean()).isTrue();
            assertThat(invoice.get("lines").size()).isLessThanOrEqualTo(2);
            invoice.get("lines")
                    .forEach(line -> assertThat(line.get("price").isNumber()).isTrue());
            assertThat(invoice.propertyNames()).isSubsetOf("number", "paid", "customer", "lines");
        }
        assertThat(whole).as("answers that were not cut").isGreaterThan(8);
    }

    @Test
    void expressionsAndChoicesAreKeptTo() {
        for (int seed = 0; seed < 10; seed++) {
            Told phone = told(
                    engine,
                    request(new ResponseFormat.Regex("\\+[0-9]{2} [0-9]{3}-[0-9]{4}"))
                            .seed(seed)
                            .build());
            assertThat(phone.text()).matches("\\+[0-9]{2} [0-9]{3}-[0-9]{4}");
            assertThat(phone.reason()).isEqualTo(FinishReason.STOP);
            Told colour = told(
                    engine,
                    request(new ResponseFormat.Choice(List.of("red", "grün", "blue")))
                            .seed(seed)
                            .build());
            assertThat(colour.text()).isIn("red", "grün", "blue");
        }
    }

    @Test
    void grammarsAreKeptTo() {
        var sums = new ResponseFormat.Grammar("""
                root ::= term (("+" | "-") term){1,4}
                term ::= [0-9]{1,3} | "(" root ")"
                """);
        int whole = 0;
        for (int seed = 0; seed < 10; seed++) {
            Told told = told(
                    engine,
                    request(sums)
                            .seed(seed)
                            .temperature(1 + seed % 3)
                            .maxTokens(80)
                            .build());
            if (told.reason() == FinishReason.STOP) {
                whole++;
                assertThat(reduced(told.text())).as(told.text()).isEqualTo("0");
            }
        }
        assertThat(whole).as("answers that were not cut").isPositive();
    }

    /** A sum with each number and each sum in brackets replaced by 0, from within; 0 if it is a sum. */
    private static String reduced(String sum) {
        String text = sum.replaceAll("[0-9]{1,3}", "0");
        for (String before = ""; !text.equals(before); ) {
            before = text;
            text = text.replaceAll("\\(0(?:[+-]0){1,4}\\)", "0");
        }
        return text.replaceAll("^0(?:[+-]0){1,4}$", "0");
    }

    @Test
    void anyObjectIsOne() {
        var style = new JsonOptions(Whitespace.NONE, KeyOrder.ANY);
        for (int seed = 0; seed < 10; seed++) {
            Told told = told(
                    engine,
                    request(new ResponseFormat.JsonObject(style))
                            .seed(seed)
                            .maxTokens(450)
                            .build());
            if (told.reason() == FinishReason.STOP) {
                assertThat(JSON.readTree(told.text()).isObject())
                        .as(told.text())
                        .isTrue();
            }
        }
    }

    @Test
    void keysComeInTheSchemasOrderWhereThatIsAskedFor() {
        var style = new JsonOptions(Whitespace.NONE, KeyOrder.SCHEMA);
        String schema = """
                {"type": "object", "additionalProperties": false, "required": ["b", "a"],
                 "properties": {"b": {"type": "boolean"}, "a": {"type": "boolean"}}}""";
        for (int seed = 0; seed < 10; seed++) {
            assertThat(told(
                                    engine,
                                    request(new ResponseFormat.JsonSchema(schema, style))
                                            .seed(seed)
                                            .build())
                            .text())
                    .matches("\\{\"b\":(true|false),\"a\":(true|false)}");
        }
    }

    @Test
    void endsWithItsValueAndNotWithAToken() {
        Told told =
                told(engine, request(new ResponseFormat.Choice(List.of("yes"))).build());
        assertThat(told.text()).isEqualTo("yes");
        assertThat(told.reason()).isEqualTo(FinishReason.STOP);
        assertThat(told.ids().getFirst()).doesNotContainAnyElementsOf(engine.endTokens());
    }

    @Test
    void anAnswerThatMayGoOnEndsWhereTheModelEndsIt() {
        var letters = new ResponseFormat.Regex("[a-z]{2,200}");
        boolean endedItself = false;
        for (int seed = 0; seed < 20; seed++) {
            Told told = told(engine, request(letters).temperature(4).seed(seed).build());
            assertThat(told.text()).matches("[a-z]{2,200}");
            endedItself |= engine.endTokens().contains(told.ids().getFirst().getLast());
        }
        assertThat(endedItself).isTrue();
        for (int seed = 0; seed < 20; seed++) {
            Told told = told(
                    engine,
                    request(letters)
                            .temperature(4)
                            .seed(seed)
                            .ignoreEos(true)
                            .maxTokens(30)
                            .build());
            assertThat(told.text()).matches("[a-z]+");
            assertThat(told.ids().getFirst()).doesNotContainAnyElementsOf(engine.endTokens());
            assertThat(told.reason() == FinishReason.LENGTH || told.text().length() == 200)
                    .isTrue();
        }
    }

    @Test
    void otherWishesHoldWithinTheFormat() {
        var digits = new ResponseFormat.Regex("[0-9]+x?");
        Told atLeast = told(
                engine,
                request(digits).temperature(5).minTokens(20).maxTokens(60).build());
        assertThat(atLeast.ids().getFirst().size())
                .isGreaterThanOrEqualTo(atLeast.text().contains("x") ? 1 : 20);
        Told stopped = told(
                engine,
                request(digits)
                        .temperature(5)
                        .stopStrings(List.of("7"))
                        .maxTokens(400)
                        .build());
        assertThat(stopped.text()).matches("[0-9&&[^7]]*");

        int no = engine.tokenizer().encode("n", roselle.tokenizer.EncodeOptions.PLAIN)[0];
        var choice = new ResponseFormat.Choice(List.of("no", "yes"));
        for (int seed = 0; seed < 10; seed++) {
            Map<Integer, Float> bias = Map.of(no, -100f);
            Told told = told(engine, request(choice).logitBias(bias).seed(seed).build());
            assertThat(told.text()).isIn("no", "yes");
            Told tuned = told(
                    engine,
                    request(choice)
                            .topK(3)
                            .topP(0.5)
                            .minP(0.1)
                            .repetitionPenalty(1.5)
                            .build());
            assertThat(tuned.text()).isIn("no", "yes");
        }
    }

    @Test
    void eachChoiceIsHeldToTheFormat() {
        Told told = told(
                engine,
                request(new ResponseFormat.Regex("[a-c]{3}[0-9]"))
                        .choices(5)
                        .temperature(3)
                        .build());
        assertThat(told.texts()).hasSize(5).allMatch(text -> text.matches("[a-c]{3}[0-9]"));
        assertThat(told.texts().stream().distinct().count()).isGreaterThan(1);
    }

    @Test
    void whatIsCutSaysSo() {
        Told told = told(
                engine,
                request(new ResponseFormat.JsonSchema(INVOICE)).maxTokens(5).build());
        assertThat(told.reason()).isEqualTo(FinishReason.LENGTH);
        assertThat(told.text()).startsWith("{");
    }

    @Test
    void thoughtsComeBeforeTheFormat() {
        GenerationRequest request = request(new ResponseFormat.JsonSchema("{\"type\": \"integer\"}"))
                .templateVariable("enable_thinking", true)
                .temperature(0)
                .build();
        Told told = told(engine, request);
        assertThat(told.thoughts()).isNotBlank();
        assertThat(JSON.readTree(told.text()).isIntegralNumber())
                .as(told.text())
                .isTrue();
    }

    @Test
    void whatCannotBeKeptToIsRefusedWithItsPlace() {
        refused("{\"type\": \"number\", \"minimum\": \"three\"}", "minimum");
        refused("{\"type\": \"string\", \"pattern\": \"(\"}", "pattern");
        refused("{\"not\": {}}", "no value");
        refused("{", "JSON");
        assertThatThrownBy(() -> engine.submit(
                        request(new ResponseFormat.Regex("a(?=b)")).build()))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() ->
                        engine.submit(request(new ResponseFormat.Regex("")).build()))
                .hasMessage("the format allows no text but the empty one");
        assertThatThrownBy(() -> engine.submit(
                        request(new ResponseFormat.Choice(List.of())).build()))
                .isInstanceOf(InvalidRequestException.class);
    }

    private static void refused(String schema, String part) {
        assertThatThrownBy(() -> engine.submit(
                        request(new ResponseFormat.JsonSchema(schema)).build()))
                .isInstanceOfSatisfying(InvalidRequestException.class, refusal -> {
                    assertThat(refusal.field()).isEqualTo("response_format");
                    assertThat(refusal).hasMessageContaining(part);
                });
    }

    @Test
    void aModelWithoutATokenizerKeepsToNothing() {
        Path tiny = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");
        try (var plain = Engine.open(TestConfig.of(tiny))) {
            assertThatThrownBy(() -> plain.submit(GenerationRequest.builder()
                            .tokens(5, 6)
                            .jsonSchema("{}")
                            .build()))
                    .hasMessageContaining("the model has no tokenizer");
        }
    }

    private static List<String> all(EngineConfig config, Device device, Gate gate) {
        var formats = List.of(
                ResponseFormat.TEXT,
                new ResponseFormat.JsonSchema(INVOICE),
                new ResponseFormat.Regex("([a-z]+ ){1,9}[a-z]+"),
                new ResponseFormat.Choice(List.of("one", "two", "three")),
                new ResponseFormat.JsonObject());
        try (var opened = EngineOnDevice.open(config, device, gate)) {
            var generations = new ArrayList<Generation>();
            for (int number = 0; number < 24; number++) {
                generations.add(opened.submit(request(formats.get(number % formats.size()))
                        .user("Tell me a long story about a fox and a lamp number " + number % 3)
                        .seed(number)
                        .temperature(number % 4)
                        .typicalP(number % 7 == 3 ? 0.9 : 1)
                        .repetitionPenalty(number % 6 == 1 ? 1.2 : 1)
                        .choices(number % 8 == 5 ? 3 : 1)
                        .maxTokens(60)
                        .build()));
            }
            gate.open();
            List<String> told = generations.stream()
                    .map(ResponseFormatTest::told)
                    .map(each -> each.ids() + " " + each.reasons())
                    .toList();
            lastPreemptions = opened.status().totals().preemptions();
            return told;
        }
    }

    private static long lastPreemptions;

    @Tag("long") // tokens that must come, and the rest with them, are held to the same in ForcedTokensTest
    @Test
    void theTokensAreTheSameHoweverTheyAreComputed() {
        var sizes = new BatchOptions(256, 16, 64, 0, 100);
        EngineConfig config = TestConfig.of(DEMO).with(sizes).with(new CacheOptions("f32", 0, 4, true));
        List<String> plain = all(config.with(Overlap.OFF), new CpuDevice(2), new Gate());
        assertThat(plain).anyMatch(answer -> answer.contains("STOP")).anyMatch(answer -> answer.contains("LENGTH"));

        var stepsAhead = new AtomicInteger();
        Device counted = AheadDevices.counting(new QueuedDevice(new CpuDevice(2)), stepsAhead);
        assertThat(all(config.with(Overlap.ON), counted, new Gate())).isEqualTo(plain);
        assertThat(stepsAhead.get()).as("steps ahead").isGreaterThan(50);

        Device late = AheadDevices.late(new QueuedDevice(new CpuDevice(2)));
        assertThat(all(config.with(Overlap.ON), late, new Gate())).isEqualTo(plain);

        var chunks = new BatchOptions(256, 16, 32, 8, 100);
        assertThat(all(config.with(Overlap.OFF).with(chunks), new CpuDevice(2), new Gate()))
                .isEqualTo(plain);

        var noPrefixes = new CacheOptions("f32", 0, 4, false);
        assertThat(all(config.with(Overlap.OFF).with(noPrefixes), new CpuDevice(2), new Gate()))
                .isEqualTo(plain);

        long bytes = Engine.plan(config.with(new BatchOptions(256, 1, 32, 0, 100))).caches().stream()
                .mapToLong(EnginePlan.Cache::bytes)
                .sum();
        var few = new CacheOptions("f32", bytes, 4, true);
        assertThat(all(
                        config.with(Overlap.ON).with(few),
                        AheadDevices.late(new QueuedDevice(new CpuDevice(2))),
                        new Gate()))
                .isEqualTo(plain);
        assertThat(lastPreemptions).isPositive();
    }
}
