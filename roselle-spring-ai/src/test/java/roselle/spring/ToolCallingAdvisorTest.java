package roselle.spring;

import io.micrometer.observation.ObservationRegistry;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.test.chat.client.advisor.AbstractToolCallingAdvisorIT;
import org.springframework.ai.test.chat.client.advisor.MockWeatherService;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.execution.DefaultToolCallResultConverter;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.metadata.ToolMetadata;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;

/**
 * Spring AI's own test of the advisor that calls tools, with the fixture that knows its conversations: see tools/conformance-model.
 *
 * <p>Calls, advisors, limits and what is asserted are Spring AI's. The tool is its own in all but two things that the fixture was
 * not taught: it wants no coordinates of cities, which it does not use, and its reports have spaces in their JSON.
 */
@Tag("long")
class ToolCallingAdvisorTest extends AbstractToolCallingAdvisorIT {
    private static final Path MODEL = Path.of("../roselle-engine/src/test/resources/conformance-model");

    private static Engine engine;

    @BeforeAll
    static void open() {
        engine = conformance();
    }

    static Engine conformance() {
        return Engine.open(EngineConfig.of(MODEL).with(new BatchOptions(0, 8, 512, 0, 64)));
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    /** A request without coordinates. */
    record City(String location, MockWeatherService.Unit unit) {}

    private static MockWeatherService.Response weather(City city) {
        return new MockWeatherService().apply(new MockWeatherService.Request(city.location(), 0, 0, city.unit()));
    }

    /** With a space behind each colon and comma. */
    private static String spaced(String json) {
        return json.replace(":", ": ").replace(",", ", ");
    }

    static FunctionToolCallback.Builder<City, MockWeatherService.Response> tool() {
        return FunctionToolCallback.builder("getCurrentWeather", ToolCallingAdvisorTest::weather)
                .description("Get the weather in location")
                .inputType(City.class)
                .toolCallResultConverter((report, type) ->
                        spaced(String.valueOf(new DefaultToolCallResultConverter().convert(report, type))));
    }

    @Override
    protected ToolCallback createWeatherToolCallback() {
        return tool().build();
    }

    @Override
    protected ToolCallback createReturnDirectWeatherToolCallback() {
        return tool().toolMetadata(ToolMetadata.builder().returnDirect(true).build())
                .build();
    }

    @Override
    protected ChatModel getChatModel() {
        return chatModel(engine);
    }

    static ChatModel chatModel(Engine engine) {
        return new RoselleChatModel(
                engine,
                "conformance",
                RoselleChatOptions.builder().temperature(0.0).maxTokens(300).build(),
                ObservationRegistry.NOOP);
    }
}
