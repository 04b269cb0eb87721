package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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
        return EngineConfig.of(DEMO).with(new BatchOptions(512, 16, 64, 0, 100));
    }

    private static GenerationRequestBuilder request(ResponseFormat format) {
        return GenerationRequest.builder().user("Write.").seed(1).temperature(1).maxTokens(300).format(format);
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
                    texts.computeIfAbsent(token.choice(), _ -> new StringBuilder()).append(token.text());
                    ids.computeIfAbsent(token.choice(), _ -> new ArrayList<>()).add(token.id());
                }
                case ChoiceEnded end -> texts.computeIfAbsent(end.choice(), _ -> new StringBuilder()).append(end.text());
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
        for (int seed = 0; seed < 40; seed++) {
            Told told = told(
                    engine,
                    request(new ResponseFormat.JsonSchema(INVOICE)).seed(seed).temperature(1 + seed % 4).build());
            if (told.reason() == FinishReason.LENGTH) {
                continue; // whitespace and digits take their turns
            }
            whole++;
            JsonNode invoice = JSON.readTree(told.text());
            assertThat(invoice.get("number").intValue()).as(told.text()).isBetween(1, 9999);
            assertThat(invoice.get("paid").isBoolean()).isTrue();
            assertThat(invoice.get("lines").size()).isLessThanOrEqualTo(2);
            invoice.get("lines").forEach(line -> assertThat(line.get("price").isNumber()).isTrue());
            assertThat(invoice.propertyNames()).isSubsetOf("number", "paid", "customer", "lines");
        }
        assertThat(whole).as("answers that were not cut").isGreaterThan(30);
    }
}
