package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import roselle.api.FinishReason;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.InvalidRequestException;
import roselle.api.type.Length;
import roselle.api.type.PartialValue;
import roselle.api.type.Pattern;
import roselle.api.type.Range;
import roselle.api.type.Size;
import roselle.api.type.TypeReference;
import roselle.api.type.TypedAnswer;
import roselle.api.type.TypedEvent;
import roselle.api.type.TypedEvent.FieldDelta;
import roselle.api.type.TypedEvent.FieldDone;
import roselle.api.type.TypedEvent.FieldStarted;
import roselle.api.type.TypedEvent.Thought;

/** Answers of the demo model are values of Java types. */
final class TypedAnswersTest {
    private static final Path DEMO = Path.of("../roselle-engine/src/test/resources/demo-model");
    private static Engine engine;

    enum Food {
        FISH,
        GRASS,
        EVERYTHING
    }

    sealed interface Home {}

    record Den(@Range(min = 1, max = 9) int rooms) implements Home {}

    record Nest(@Length(max = 8) String tree, boolean hasEggs) implements Home {}

    record Animal(
            @Length(min = 1, max = 12) String name,
            @Range(min = 0, max = 8) byte legs,
            Food food,
            @Range(min = 0, max = 500) BigDecimal weight,
            Optional<LocalDate> born,
            Home home,
            @Size(max = 2) List<@Pattern("[a-z]{1,8}") String> friends,
            @Size(max = 1) Map<Food, @Range(min = 0, max = 9) Integer> likes,
            @Nullable UUID chip) {}

    @BeforeAll
    static void open() {
        engine = Engine.open(TestConfig.of(DEMO));
    }

    @AfterAll
    static void close() {
        engine.close();
    }

    private static GenerationRequestBuilder request() {
        return GenerationRequest.builder().user("Who was the fox?").temperature(0);
    }

    @Test
    void areOfTheirType() {
        Animal likeliest = engine.submit(request().build(), Animal.class).value();
        assertThat(likeliest.name()).isNotEmpty();
        for (int seed = 0; seed < 6; seed++) {
            var drawn = request().temperature(2).seed(seed).build();
            Animal animal = engine.submit(drawn, Animal.class).value();
            assertThat(animal.name().codePointCount(0, animal.name().length())).isBetween(1, 12);
            assertThat((int) animal.legs()).isBetween(0, 8);
            assertThat(animal.friends()).hasSizeLessThanOrEqualTo(2).allMatch(friend -> friend.matches("[a-z]{1,8}"));
        }
        assertThat(engine.submit(request().build(), Food.class).value()).isNotNull();
        assertThat(engine.submit(request().build(), Integer.class).value()).isNotNull();
        assertThat(engine.submit(request().build(), new TypeReference<@Size(min = 1, max = 3) List<Home>>() {})
                        .value())
                .hasSizeBetween(1, 3);
    }

    @Test
    void areToldFieldByFieldAsTheyAreWritten() {
        List<TypedEvent> events = new ArrayList<>();
        TypedAnswer<Animal> answer;
        try (var generation = engine.submit(request().build(), Animal.class)) {
            generation.forEach(events::add);
            answer = generation.answer();
            assertThat(generation.partial()).isEqualTo(new PartialValue.Whole(answer.value()));
        }
        Animal animal = answer.value();
        var name = new StringBuilder();
        List<String> started = new ArrayList<>();
        for (TypedEvent event : events) {
            switch (event) {
                case FieldStarted(String path) -> started.add(path);
                case FieldDelta(String path, String text) when path.equals("name") -> name.append(text);
                case FieldDelta _, FieldDone _ -> {}
                case Thought _ -> throw new AssertionError("none was asked for");
            }
        }
        assertThat(name.toString()).isEqualTo(animal.name());
        assertThat(started)
                .startsWith("", "name", "legs", "food", "weight", "born", "home", "home.type")
                .endsWith("chip");
        assertThat(events)
                .contains(new FieldDone("legs", animal.legs()), new FieldDone("home", animal.home()))
                .endsWith(new FieldDone("", animal));
        assertThat(answer)
                .isInstanceOfSatisfying(
                        TypedAnswer.Complete.class,
                        complete ->
                                assertThat(complete.usage().completionTokens()).isPositive());
    }

    @Test
    void aTypeWithThoughtsIsToldBehindThem() {
        var thinking = request().templateVariable("enable_thinking", true).build();
        var thoughts = new StringBuilder();
        try (var generation = engine.submit(thinking, Food.class)) {
            for (TypedEvent event : generation) {
                if (event instanceof Thought(String text)) {
                    thoughts.append(text);
                }
            }
            assertThat(generation.value()).isNotNull();
        }
        assertThat(thoughts.toString()).isNotBlank();
    }

    @Test
    void whatIsCutSaysWhereAndGivesWhatThereIs() {
        try (var generation = engine.submit(request().maxTokens(9).build(), Animal.class)) {
            TypedAnswer<Animal> answer = generation.answer();
            assertThat(answer).isInstanceOfSatisfying(TypedAnswer.Cut.class, cut -> {
                assertThat(cut.reason()).isEqualTo(FinishReason.LENGTH);
                assertThat(cut.text()).startsWith("{");
                assertThat(cut.partial())
                        .isInstanceOfSatisfying(
                                PartialValue.Members.class,
                                members -> assertThat(members.members()).containsKey("name"));
            });
            assertThatThrownBy(generation::value)
                    .isInstanceOfSatisfying(
                            InvalidRequestException.class,
                            refused -> assertThat(refused.field()).isEqualTo("max_tokens"))
                    .hasMessageStartingWith("the answer is cut after 9 tokens at ");
        }
        // Of a number alone that is cut nobody knows whether it would have gone on.
        try (var generation = engine.submit(
                request().maxTokens(1).build(), new TypeReference<@Range(min = 100_000, max = 999_999) Integer>() {})) {
            assertThat(generation.answer()).isInstanceOf(TypedAnswer.Cut.class);
        }
    }

    @Test
    void whatIsClosedIsCancelled() {
        var endless = GenerationRequest.builder()
                .user("Tell a story.")
                .ignoreEos(true)
                .build();
        var generation = engine.submit(endless, new TypeReference<@Size(min = 100) List<String>>() {});
        try (generation) {
            generation.next();
        }
        assertThatThrownBy(generation::value).isInstanceOf(CancellationException.class);
    }

    record Strict(@Length(min = 1, max = 4) String name, int number) {
        Strict {
            throw new IllegalArgumentException("nothing pleases " + name.length());
        }
    }

    @Test
    void whatAConstructorRefusesIsToldWithItsPlace() {
        try (var generation = engine.submit(request().build(), new TypeReference<@Size(min = 1) List<Strict>>() {})) {
            assertThat(generation.answer()).isInstanceOfSatisfying(TypedAnswer.Refused.class, refused -> {
                assertThat(refused.path()).isEqualTo("[0]");
                assertThat(refused.text()).startsWith("[").endsWith("}");
            });
            assertThatThrownBy(generation::value)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageStartingWith("[0] is refused: nothing pleases ");
        }
    }

    @Test
    void whatAnAnswerOfATypeDoesNotHaveIsRefused() {
        refused(request().jsonSchema("{}"), "response_format");
        refused(request().choices(2), "n");
        refused(request().logprobs(0), "logprobs");
        refused(request().promptLogprobs(true), "logprobs");
        refused(request().stopStrings(List.of("x")), "stop");
        refused(request().tool(Map.of("type", "function", "function", Map.of("name", "f"))), "tools");
        assertThatThrownBy(() -> engine.submit(request().build(), Object.class))
                .hasMessageStartingWith("Object: java.lang.Object is not supported");
    }

    private static void refused(GenerationRequestBuilder request, String field) {
        assertThatThrownBy(() -> engine.submit(request.build(), Animal.class))
                .isInstanceOfSatisfying(
                        InvalidRequestException.class,
                        refusal -> assertThat(refusal.field()).isEqualTo(field));
    }
}
