package roselle.quarkus.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.model.chat.ChatModel;
import io.quarkus.test.QuarkusUnitTest;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An application that names no model has the demo model in tests, and in development. */
@Tag("long")
class DevServicesTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withEmptyApplication()
            .overrideConfigKey("quarkus.http.test-port", "0")
            .overrideConfigKey("quarkus.roselle.device", "cpu")
            .overrideConfigKey("quarkus.roselle.chat.temperature", "0")
            .overrideConfigKey("quarkus.roselle.chat.max-tokens", "24");

    @Inject
    ChatModel model;

    @Test
    void theDemoModelAnswers() {
        assertThat(model.chat("What is 12 + 30?")).contains("42");
    }
}
