package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.InvalidRequestException;
import roselle.api.Prompt;
import roselle.api.ToolUse;
import roselle.api.ToolUse.Choice;
import roselle.api.Usage;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** The demo model thinks and calls tools, and its answers are told apart from both. */
final class ConversationEventsTest {
    private static final Path DEMO = Path.of("../roselle-engine/src/test/resources/demo-model");
    private static final String WEATHER = """
            {"type": "function", "function": {"name": "get_weather", "description": "The weather in a city now",
             "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}""";

    private static Engine engine;

    /** What one choice was told as. */
    private static final class Told {
        final StringBuilder text = new StringBuilder();
        final StringBuilder raw = new StringBuilder();
        final StringBuilder thoughts = new StringBuilder();
        final List<ToolCallStarted> started = new ArrayList<>();
        final StringBuilder deltas = new StringBuilder();
        final List<ToolCall> calls = new ArrayList<>();
        final List<Integer> ids = new ArrayList<>();
        GenerationEvent last = new Finished(List.of(), new Usage(0, 0, 0, 0, 0, 0, 0));
        Usage usage = new Usage(0, 0, 0, 0, 0, 0, 0);
    }

    @BeforeAll
    static void open() {
        engine = Engine.open(TestConfig.of(DEMO));
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    private static GenerationRequestBuilder sum() {
        return GenerationRequest.builder()
                .user("What is 12 + 30?")
                .templateVariable("enable_thinking", true)
                .temperature(0)
                .maxTokens(100);
    }

    private static Told told(GenerationRequest request) {
        var told = new Told();
        try (var generation = engine.submit(request)) {
            for (GenerationEvent event : generation) {
                switch (event) {
                    case Reasoning thought -> told.thoughts.append(thought.text());
                    case ToolCall call -> told.calls.add(call);
                    case TokenGenerated token -> {
                        told.ids.add(token.id());
                        told.text.append(token.text());
                        told.raw.append(token.raw());
                    }
                    case ChoiceEnded end -> {
                        told.text.append(end.text());
                        told.raw.append(end.raw());
                    }
                    case Finished finished -> told.usage = finished.usage();
                    case Failed failed -> throw new AssertionError(failed.message());
                    case ToolCallStarted started -> told.started.add(started);
                    case ToolCallDelta delta -> told.deltas.append(delta.arguments());
                    case PromptScored _ -> {}
                }
                told.last = event;
            }
        }
        return told;
    }

    @Test
    void tellsThoughtsApartFromTheAnswer() {
        Told told = told(sum().build());

        assertThat(told.thoughts).isNotBlank();
        assertThat(told.text.toString()).contains("42").doesNotContain(told.thoughts);
        assertThat(told.raw).hasToString(told.thoughts.toString() + told.text); // its marks are special tokens
        assertThat(told.usage.reasoningTokens()).isPositive().isLessThan(told.usage.completionTokens());
        assertThat(told.last).isInstanceOf(Finished.class);
    }

    @Test
    void givesTheAnswerAloneAsText() {
        try (var generation = engine.submit(sum().build())) {
            assertThat(generation.text()).isEqualTo(told(sum().build()).text.toString());
        }
    }

    @Test
    void splitsNoTextThatIsNoChat() {
        Told chat = told(sum().build());
        int[] prompt = engine.tokenize(sum().build().prompt());

        Told plain = told(GenerationRequest.builder()
                .prompt(Prompt.Tokens.of(prompt))
                .temperature(0)
                .maxTokens(100)
                .build());

        assertThat(plain.ids).isEqualTo(chat.ids);
        assertThat(plain.text).hasToString(chat.raw.toString());
        assertThat(plain.raw).hasToString(chat.raw.toString());
        assertThat(plain.thoughts).isEmpty();
        assertThat(plain.usage.reasoningTokens()).isZero();
    }

    @Test
    void tellsACallWhereThereAreTools() {
        Told told = told(GenerationRequest.builder()
                .user("What is the weather in Oslo?")
                .tool(JsonMapper.shared().readValue(WEATHER, new TypeReference<Map<String, Object>>() {}))
                .temperature(0)
                .maxTokens(60)
                .build());

        assertThat(told.calls).hasSize(1);
        assertThat(told.calls.getFirst().name()).isEqualTo("get_weather");
        assertThat(told.calls.getFirst().arguments()).contains("Oslo");
        assertThat(told.calls.getFirst().id()).startsWith("call_");
        assertThat(told.started)
                .containsExactly(new ToolCallStarted(0, 0, told.calls.getFirst().id(), "get_weather"));
        assertThat(told.deltas).hasToString(told.calls.getFirst().arguments());
        assertThat(told.text).isEmpty();
        assertThat(told.raw.toString()).contains("get_weather");
    }

    private static GenerationRequestBuilder weather() {
        return GenerationRequest.builder()
                .user("What is the weather in Oslo?")
                .tool(JsonMapper.shared().readValue(WEATHER, new TypeReference<Map<String, Object>>() {}))
                .temperature(0)
                .maxTokens(60);
    }

    @Test
    void endsWithTheFirstCallWhereOneAloneMayBe() {
        Told many = told(weather().build());
        Told one = told(weather().toolUse(new ToolUse(Choice.AUTO, "", false)).build());

        assertThat(one.calls).hasSize(1);
        assertThat(one.calls.getFirst().arguments())
                .isEqualTo(many.calls.getFirst().arguments());
        assertThat(one.ids).hasSizeLessThan(many.ids.size()).isEqualTo(many.ids.subList(0, one.ids.size()));
        assertThat(((Finished) one.last).reasons()).containsExactly(FinishReason.STOP);
    }

    @Test
    void doesNotTellTheModelOfToolsThatItMayNotCall() {
        Told told = told(weather().toolUse(new ToolUse(Choice.NONE, "", true)).build());

        assertThat(told.calls).isEmpty();
        assertThat(told.usage.promptTokens())
                .isLessThan(told(weather().build()).usage.promptTokens());
    }

    @Test
    void refusesToForceACall() {
        for (ToolUse use :
                List.of(new ToolUse(Choice.REQUIRED, "", true), new ToolUse(Choice.NAMED, "get_weather", true))) {
            assertThatThrownBy(() -> engine.submit(weather().toolUse(use).build()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("tool_choice");
        }
    }

    @Test
    void refusesToolsWhereNobodyKnowsHowTheyAreCalled() {
        assertThat(engine.toolParser()).isEqualTo("roselle");
        try (var other = Engine.open(TestConfig.of(DEMO).withToolParser("none"))) {
            assertThatThrownBy(() -> other.submit(weather().build()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("--tool-parser");
        }
    }

    @Test
    void keepsChoicesApart() {
        var thoughts = new StringBuilder[] {new StringBuilder(), new StringBuilder()};
        try (var generation = engine.submit(sum().choices(2).build())) {
            for (GenerationEvent event : generation) {
                if (event instanceof Reasoning thought) {
                    thoughts[thought.choice()].append(thought.text());
                }
            }
        }
        assertThat(thoughts[0]).isNotBlank().hasToString(thoughts[1].toString());
    }
}
