package roselle.quarkus.deployment;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.model.chat.ChatModel;
import io.quarkus.test.QuarkusUnitTest;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An application that names no model, and wants none named for it, has none. */
@Tag("long")
class NoDevServicesTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withEmptyApplication()
            .overrideConfigKey("quarkus.http.test-port", "0")
            .overrideConfigKey("quarkus.roselle.devservices.enabled", "false");

    @Inject
    Instance<ChatModel> models;

    @Test
    void thereIsNoModel() {
        assertThatThrownBy(models::get).hasMessage("quarkus.roselle.model is not set: it names the model of this bean");
    }
}
