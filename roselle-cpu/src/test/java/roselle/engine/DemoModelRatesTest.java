package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.ChatMessage;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.hub.BundledModel;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the demo model can do, measured through the engine on 4 × 100 prompts whose heroes, names, numbers and arguments are in
 * none of its training text. Case {@code n} is drawn with seed {@code n}.
 */
@Tag("long")
class DemoModelRatesTest {
    private static final String CALL = "<|tool_call|>";
    private static final String END = "<|im_end|>";
    private static final Path EXACT = Path.of("../roselle-engine/src/test/resources/demo-model"); // in BF16
    private static final double WARM = 0.7;
    private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

    @TempDir
    private Path folder = Path.of("");

    @Test
    void theModelInTheJarDoesWhatItsCardSays() throws IOException {
        try (var engine = Engine.open(TestConfig.of(BundledModel.DEMO.unpackInto(folder)))) {
            int stories = rate(engine, "stories", WARM, DemoModelRatesTest::isStoryOfItsHero);
            int sums = rate(engine, "sums", 0, DemoModelRatesTest::isRightSum);
            int calls = rate(engine, "tools", 0, DemoModelRatesTest::isRightCall);
            int names = rate(engine, "names", 0, (prompt, answer) -> answer.contains(text(prompt, "name")));
            assertThat(stories).as("stories").isGreaterThanOrEqualTo(95);
            assertThat(sums).as("sums").isGreaterThanOrEqualTo(90);
            assertThat(calls).as("tool calls").isGreaterThanOrEqualTo(90);
            assertThat(names).as("recalled names").isGreaterThanOrEqualTo(90);
        }
    }

    @Test
    void roundingToEightBitsHardlyChangesWhatItSays() throws Exception {
        List<String> rounded;
        List<String> exact;
        try (var engine = Engine.open(TestConfig.of(BundledModel.DEMO.unpackInto(folder)))) {
            rounded = answers(engine, prompts("sums"), 0);
        }
        try (var engine = Engine.open(TestConfig.of(EXACT))) {
            exact = answers(engine, prompts("sums"), 0);
        }
        int same = 0;
        for (int i = 0; i < exact.size(); i++) {
            same += exact.get(i).equals(rounded.get(i)) ? 1 : 0;
        }
        System.out.println("demo model: sums answered alike in BF16 and Q8_0: " + same + " of " + exact.size());
        assertThat(same).isGreaterThanOrEqualTo(98);
    }

    private static int rate(Engine engine, String kind, double temperature, BiPredicate<JsonNode, String> isGood)
            throws IOException {
        List<JsonNode> prompts = prompts(kind);
        long begin = System.nanoTime();
        List<String> answers = answers(engine, prompts, temperature);
        double seconds = (System.nanoTime() - begin) / 1e9;
        int good = 0;
        for (int i = 0; i < answers.size(); i++) {
            boolean isRight = isGood.test(prompts.get(i), answers.get(i));
            good += isRight ? 1 : 0;
            if (!isRight) {
                System.out.println(
                        "demo model: not right: " + prompts.get(i).get("messages") + " -> " + answers.get(i));
            }
        }
        System.out.printf("demo model: %s %d of %d, %.1f s%n", kind, good, answers.size(), seconds);
        return good;
    }

    /** The answers with their special tokens, all prompts in one batch. */
    private static List<String> answers(Engine engine, List<JsonNode> prompts, double temperature) {
        var generations = new ArrayList<Generation>();
        for (JsonNode prompt : prompts) {
            generations.add(engine.submit(request(prompt, temperature, generations.size())));
        }
        return generations.stream()
                .map(generation -> answer(engine, generation))
                .toList();
    }

    private static GenerationRequest request(JsonNode prompt, double temperature, long seed) {
        var builder =
                GenerationRequest.builder().temperature(temperature).seed(seed).maxTokens(400);
        prompt.get("messages")
                .forEach(message -> builder.message(ChatMessage.of(text(message, "role"), text(message, "content"))));
        if (prompt.has("tools")) {
            prompt.get("tools").forEach(tool -> builder.tool(JsonMapper.shared().convertValue(tool, OBJECT)));
        }
        return builder.build();
    }

    private static String answer(Engine engine, Generation generation) {
        var ids = new ArrayList<Integer>();
        try (generation) {
            for (var event : generation) {
                switch (event) {
                    case TokenGenerated token -> ids.add(token.id());
                    case Failed failed -> throw new AssertionError(failed.message());
                    default -> {}
                }
            }
        }
        String text = engine.tokenizer()
                .decode(ids.stream().mapToInt(Integer::intValue).toArray(), false);
        return text.endsWith(END) ? text.substring(0, text.length() - END.length()) : text;
    }

    /** It ends with a full stop, inside a quotation too, and tells of its hero. */
    private static boolean isStoryOfItsHero(JsonNode prompt, String answer) {
        return (answer.endsWith(".") || answer.endsWith(".\"")) && answer.contains(text(prompt, "hero"));
    }

    private static boolean isRightSum(JsonNode prompt, String answer) {
        return answer.endsWith(" = " + prompt.get("sum").intValue() + ".");
    }

    private static boolean isRightCall(JsonNode prompt, String answer) {
        if (!answer.startsWith(CALL)) {
            return false;
        }
        try {
            return JsonMapper.shared().readTree(answer.substring(CALL.length())).equals(prompt.get("call"));
        } catch (JacksonException malformed) {
            return false;
        }
    }

    private static List<JsonNode> prompts(String kind) throws IOException {
        try (InputStream in = DemoModelRatesTest.class.getResourceAsStream("/demo-model/prompts.json")) {
            assertThat(in).isNotNull();
            var all = new ArrayList<JsonNode>();
            JsonMapper.shared().readTree(in).get(kind).forEach(all::add);
            assertThat(all).hasSize(100);
            return all;
        }
    }

    private static String text(JsonNode node, String field) {
        return node.get(field).stringValue();
    }
}
