package roselle.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.DefaultChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import roselle.api.InvalidRequestException;
import roselle.embedding.EmbeddingEngine;
import roselle.engine.Engine;
import roselle.hub.BundledModel;
import roselle.spring.autoconfigure.RoselleAutoConfiguration;
import roselle.spring.autoconfigure.RoselleHealthAutoConfiguration;
import roselle.spring.autoconfigure.RoselleMetricsAutoConfiguration;

/** An application with the demo model: its beans, and what they do. */
@Tag("long")
class RoselleAutoConfigurationTest {
    private static final Path ENCODER = Path.of("../roselle-engine/src/test/resources/tiny-encoders/bert");

    private static Path demo = Path.of("");
    private static final SimpleMeterRegistry METERS = new SimpleMeterRegistry();
    private static final AnnotationConfigApplicationContext ASKED = new AnnotationConfigApplicationContext();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RoselleAutoConfiguration.class,
                    RoselleHealthAutoConfiguration.class,
                    RoselleMetricsAutoConfiguration.class));

    /** One application for the tests that only ask. */
    @BeforeAll
    static void start() throws IOException {
        demo = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        TestPropertyValues.of(properties()).applyTo(ASKED);
        var observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(METERS));
        ASKED.registerBean(ObservationRegistry.class, () -> observations);
        ASKED.register(
                RoselleAutoConfiguration.class,
                RoselleHealthAutoConfiguration.class,
                RoselleMetricsAutoConfiguration.class);
        ASKED.refresh();
    }

    @AfterAll
    static void stop() {
        HealthIndicator indicator = ASKED.getBean(HealthIndicator.class);
        ASKED.close();
        assertThat(requireNonNull(indicator.health()).getStatus()).isEqualTo(Status.DOWN);
    }

    private static String[] properties() {
        return new String[] {
            "spring.ai.roselle.model=" + demo,
            "spring.ai.roselle.name=demo",
            "spring.ai.roselle.max-sequences=8",
            "spring.ai.roselle.chat.temperature=0"
        };
    }

    private static ChatModel model() {
        return ASKED.getBean(ChatModel.class);
    }

    @Test
    void opensNothingThatNoPropertyNames() {
        application.run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(Engine.class)
                .doesNotHaveBean(ChatModel.class)
                .doesNotHaveBean(EmbeddingEngine.class)
                .doesNotHaveBean(HealthIndicator.class));
    }

    @Test
    void answersWholeAndInPieces() {
        var prompt = new Prompt(List.of(new SystemMessage("Be brief."), new UserMessage("What is 12 + 30?")));
        ChatResponse whole = model().call(prompt);
        assertThat(text(whole)).contains("42");
        assertThat(whole.getMetadata().getModel()).isEqualTo("demo");
        assertThat(whole.getMetadata().getUsage().getCompletionTokens()).isPositive();
        assertThat(whole.hasFinishReasons(Set.of("STOP"))).isTrue();
        List<ChatResponse> pieces =
                requireNonNull(model().stream(prompt).collectList().block());
        assertThat(pieces).hasSizeGreaterThan(1);
        assertThat(pieces.stream().map(RoselleAutoConfigurationTest::text)).hasSizeGreaterThan(1);
        assertThat(String.join(
                        "",
                        pieces.stream().map(RoselleAutoConfigurationTest::text).toList()))
                .isEqualTo(text(whole));
        assertThat(pieces.getLast().getMetadata().getUsage().getPromptTokens())
                .isEqualTo(whole.getMetadata().getUsage().getPromptTokens());
    }

    private static String text(ChatResponse response) {
        return requireNonNull(response.getResults().getFirst().getOutput().getText());
    }

    /** What the weather tool is asked. */
    record Place(String city) {}

    @Test
    void callsToolsByTheChatClient() {
        var weather = FunctionToolCallback.builder(
                        "get_weather",
                        (Place place) ->
                                "{\"temperature\": 21, \"sky\": \"sunny\", \"city\": \"" + place.city() + "\"}")
                .description("The weather in a city now")
                .inputType(Place.class)
                .inputSchema(
                        "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}")
                .build();
        assertThat(ChatClient.create(model())
                        .prompt("What is the weather in Munich?")
                        .tools(weather)
                        .call()
                        .content())
                .contains("Munich", "sunny", "21");
    }

    @Test
    void endsTheRequestOfACancelledStream() {
        assertThat(model().stream(new Prompt("Tell me a story about a fox."))
                        .next()
                        .block())
                .isNotNull();
        model().call("What is 12 + 30?"); // a step later
        assertThat(ASKED.getBean(Engine.class).status().running()).isZero();
    }

    @Test
    void refusesByNameWhatItCannotHonour() {
        var other = ChatOptions.builder().model("other").build();
        assertThatThrownBy(() -> model().call(new Prompt("Hi", other)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("model is other");
        var foreign = new DefaultChatOptions(null, null, null, null, null, null, null, null) {};
        assertThatThrownBy(() -> model().call(new Prompt("Hi", foreign)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(foreign.getClass().getName());
    }

    @Test
    void holdsAnAnswerToASchema() {
        var options = RoselleChatOptions.builder()
                .outputSchema("{\"type\":\"object\",\"properties\":{\"animal\":{\"const\":\"fox\"}},"
                        + "\"required\":[\"animal\"],\"additionalProperties\":false}")
                .build();
        assertThat(text(model().call(new Prompt("What is 12 + 30?", options))))
                .isEqualToIgnoringWhitespace("{\"animal\":\"fox\"}");
    }

    @Test
    void embedsTexts() {
        application
                .withPropertyValues("spring.ai.roselle.embedding-model=" + ENCODER)
                .run(context -> {
                    EmbeddingModel model = context.getBean(EmbeddingModel.class);
                    var engine = context.getBean(EmbeddingEngine.class);
                    assertThat(model.embed("hello world"))
                            .hasSize(model.dimensions())
                            .containsExactly(
                                    engine.embed(List.of("hello world")).getFirst());
                    assertThat(context).doesNotHaveBean(Engine.class);
                });
    }

    @Test
    void tellsHealthMetersAndObservations() {
        ASKED.getBean(MeterBinder.class).bindTo(METERS);
        model().call("What is 12 + 30?");
        assertThat(METERS.get("roselle.generated.tokens").functionCounter().count())
                .isPositive();
        assertThat(METERS.get("gen_ai.client.operation")
                        .tag("gen_ai.request.model", "demo")
                        .timer()
                        .count())
                .isPositive();
        assertThat(requireNonNull(ASKED.getBean(HealthIndicator.class).health()).getStatus())
                .isEqualTo(Status.UP);
    }
}
