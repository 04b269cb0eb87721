package roselle.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

class EmbeddedAssistantTest {
    private static final Path DEMO = Path.of("../roselle-engine/src/test/resources/demo-model");

    private static final String WEATHER = """
            {"type": "function", "function": {"name": "get_weather", "description": "The weather in a city now",
             "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}""";

    @Test
    void callsATool() {
        var told = new ByteArrayOutputStream();
        var weather = JsonMapper.shared().readValue(WEATHER, new TypeReference<Map<String, Object>>() {});
        try (var engine = Engine.open(EngineConfig.of(DEMO));
                var out = new PrintStream(told, true, UTF_8)) {
            EmbeddedAssistant.answer(engine, "What is the weather in Oslo?", weather, out);
        }
        assertThat(told.toString(UTF_8).strip()).matches("get_weather <- \\{\"city\": ?\"Oslo\"}");
    }
}
