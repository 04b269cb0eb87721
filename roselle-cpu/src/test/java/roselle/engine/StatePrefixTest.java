package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.TokenLogprob;
import roselle.cpu.CpuDevice;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;

/** Models whose layers keep states find them again where prompts end, where they fork and where answers end. */
class StatePrefixTest {
    private static final int PAGE = 16;
    private static final int ANSWER = 6;
    private static final int TURNS = 4;

    /** What a request gave: ids and the bits of their log-probabilities, and how many tokens of its prompt were cached. */
    private record Answer(List<Integer> numbers, List<Integer> ids, int cached) {}

    @ParameterizedTest
    @ValueSource(strings = {"qwen3_5", "lfm2"})
    void aForkIsFoundByTheThirdRequestWithTheSameBits(String model) {
        int[] prompt = random(1, 6 * PAGE + 5);
        for (int shared : new int[] {3 * PAGE, 6 * PAGE + 4}) {
            try (var engine = open(model, true)) {
                answer(engine, prompt);
                int[] second = fork(prompt, shared, 2);
                int[] third = fork(prompt, shared, 3);
                answer(engine, second);
                Answer found = answer(engine, third);
                assertThat(found.cached()).as("cached of %d shared", shared).isBetween(shared / PAGE * PAGE, shared);
                assertThat(found.numbers())
                        .as("after a hit")
                        .isEqualTo(alone(model, third).numbers());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = "qwen3_5")
    void turnsOfAConversationComputeLittleMoreThanWhatIsNew(String model) {
        try (var engine = open(model, true)) {
            int[] conversation = random(4, 40);
            for (int turn = 0; turn < TURNS; turn++) {
                Answer answer = answer(engine, conversation);
                int known = turn == 0 ? 0 : conversation.length - 9;
                assertThat(answer.cached()).as("turn %d", turn).isGreaterThanOrEqualTo(known - known % PAGE - PAGE);
                if (turn == TURNS - 1) { // every turn before has left its mark
                    assertThat(answer.numbers())
                            .isEqualTo(alone(model, conversation).numbers());
                }
                int[] said = answer.ids().stream().mapToInt(Integer::intValue).toArray();
                int length = conversation.length;
                conversation = Arrays.copyOf(conversation, length + said.length + 9);
                System.arraycopy(said, 0, conversation, length, said.length);
                System.arraycopy(random(5 + turn, 9), 0, conversation, length + said.length, 9);
            }
        }
    }

    private static int[] random(int seed, int count) {
        return new Random(seed).ints(count, 3, 300).toArray();
    }

    /** The same beginning and another end. */
    private static int[] fork(int[] prompt, int shared, int seed) {
        int[] other = Arrays.copyOf(prompt, prompt.length + 7);
        System.arraycopy(random(seed, other.length - shared), 0, other, shared, other.length - shared);
        other[shared] = 300 + seed;
        return other;
    }

    private static Engine open(String model, boolean caches) {
        Path folder = Path.of("../roselle-engine/src/test/resources/tiny-models", model);
        var config = TestConfig.of(folder)
                .with(new BatchOptions(512, 4, 64, 0, 4))
                .with(new CacheOptions("f32", 64L << 20, PAGE, caches));
        return EngineOnDevice.open(config, new CpuDevice(1));
    }

    private static Answer alone(String model, int[] prompt) {
        try (var engine = open(model, false)) {
            return answer(engine, prompt);
        }
    }

    private static Answer answer(Engine engine, int[] prompt) {
        var numbers = new ArrayList<Integer>();
        var ids = new ArrayList<Integer>();
        int cached = -1;
        try (var generation = engine.submit(GenerationRequest.builder()
                .tokens(prompt)
                .temperature(0)
                .maxTokens(ANSWER)
                .ignoreEos(true)
                .logprobs(2)
                .build())) {
            for (var event : generation) {
                if (event instanceof TokenGenerated token) {
                    ids.add(token.id());
                    for (TokenLogprob each : token.logprobs()) {
                        numbers.add(each.id());
                        numbers.add(Float.floatToRawIntBits(each.logprob()));
                    }
                } else if (event instanceof Finished finished) {
                    cached = finished.usage().cachedTokens();
                }
            }
        }
        return new Answer(numbers, ids, cached);
    }
}
