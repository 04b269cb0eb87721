package roselle.spring;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.test.chat.client.advisor.AbstractToolCallingAdvisorAutoRegistrationIT;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.metadata.ToolMetadata;
import roselle.engine.Engine;

/** Spring AI's own test of the advisor of tools that its client adds, and of callers that call tools themselves, with the same fixture. */
@Tag("long")
class ToolCallingAutoRegistrationTest extends AbstractToolCallingAdvisorAutoRegistrationIT {
    private static Engine engine;

    @BeforeAll
    static void open() {
        engine = ToolCallingAdvisorTest.conformance();
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    @Override
    protected ToolCallback createWeatherToolCallback() {
        return ToolCallingAdvisorTest.tool().build();
    }

    @Override
    protected ToolCallback createReturnDirectWeatherToolCallback() {
        return ToolCallingAdvisorTest.tool()
                .toolMetadata(ToolMetadata.builder().returnDirect(true).build())
                .build();
    }

    @Override
    protected ChatModel getChatModel() {
        return ToolCallingAdvisorTest.chatModel(engine);
    }
}
