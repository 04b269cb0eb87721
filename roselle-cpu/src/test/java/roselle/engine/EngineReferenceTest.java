package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
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
import roselle.api.TokenLogprob;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/** Through scheduler, batch, pages and sampler, each family writes and scores what Hugging Face's implementation computed. */
class EngineReferenceTest {
    private static final int INPUTS = 3;
    private static final int GREEDY = 16;
    private static final int TOP = 20;
    private static final double TOLERANCE = 1e-3; // twice that of a logit: a log-probability is the difference of two

    /** An input of the reference: its tokens, the logits after each, and what greedy decoding appends. */
    private record Reference(List<Integer> input, Tensor logits, List<Integer> greedy) {
        static Reference of(Checkpoint checkpoint, int number) {
            return new Reference(
                    integers(checkpoint, "input_" + number),
                    tensor(checkpoint, "logits_" + number),
                    integers(checkpoint, "greedy_" + number));
        }

        /** Natural logarithms of the softmax after the token at {@code position}. */
        double[] logprobs(int position) {
            var row = new float[Math.toIntExact(logits.shape().columns())];
            Dequantizer.row(logits, position, row, 0);
            double sum = 0;
            for (float logit : row) {
                sum += Math.exp(logit);
            }
            var logprobs = new double[row.length];
            for (int id = 0; id < row.length; id++) {
                logprobs[id] = row[id] - Math.log(sum);
            }
            return logprobs;
        }
    }

    private static Tensor tensor(Checkpoint checkpoint, String name) {
        return Objects.requireNonNull(checkpoint.tensors().get(name), name);
    }

    private static List<Integer> integers(Checkpoint checkpoint, String name) {
        var integers = new ArrayList<Integer>();
        for (float number : Dequantizer.all(tensor(checkpoint, name))) {
            integers.add((int) number);
        }
        return integers;
    }

    @ParameterizedTest
    @MethodSource("roselle.engine.SameBitsTest#models")
    void writesAndScoresAsTheReferenceDoes(Path model) {
        var config = TestConfig.of(model)
                .with(new BatchOptions(0, 4, 64, 11, 100))
                .with(new CacheOptions("f32", 0, 16, true))
                .with(new DeviceOptions("cpu", 2, "auto", "f32"));
        try (Checkpoint expected = Checkpoints.open(model.resolve("expected.safetensors"));
                var engine = Engine.open(config)) {
            var references = new ArrayList<Reference>();
            var generations = new ArrayList<Generation>();
            for (int number = 0; number < INPUTS; number++) {
                Reference reference = Reference.of(expected, number);
                references.add(reference);
                generations.add(engine.submit(request(reference.input())));
            }
            for (int number = 0; number < INPUTS; number++) {
                check(references.get(number), generations.get(number));
            }
        }
    }

    private static GenerationRequest request(List<Integer> input) {
        return GenerationRequest.builder()
                .tokens(input.stream().mapToInt(Integer::intValue).toArray())
                .temperature(0)
                .ignoreEos(true)
                .maxTokens(GREEDY)
                .logprobs(TOP)
                .promptLogprobs(true)
                .build();
    }

    private static void check(Reference reference, Generation generation) {
        var written = new ArrayList<Integer>();
        try (generation) {
            for (var event : generation) {
                switch (event) {
                    case PromptScored scored -> checkPrompt(reference, scored);
                    case TokenGenerated token -> {
                        if (written.isEmpty()) {
                            int last = reference.input().size() - 1;
                            checkScores(reference.logprobs(last), token.id(), token.logprobs());
                        }
                        written.add(token.id());
                    }
                    case Failed failed -> throw new AssertionError(failed.message());
                    case ChoiceEnded _, Reasoning _, ToolCallStarted _, ToolCallDelta _, ToolCall _, Finished _ -> {}
                }
            }
        }
        assertThat(written).isEqualTo(reference.greedy());
    }

    private static void checkPrompt(Reference reference, PromptScored scored) {
        List<Integer> input = reference.input();
        assertThat(scored.ids()).isEqualTo(input);
        assertThat(scored.logprobs().getFirst()).isEmpty();
        for (int position = 1; position < input.size(); position++) {
            double[] expected = reference.logprobs(position - 1);
            checkScores(expected, input.get(position), scored.logprobs().get(position));
        }
    }

    /** The token itself, then the likeliest ones, each with the reference's number and none missing that is likelier. */
    private static void checkScores(double[] expected, int id, List<TokenLogprob> scores) {
        assertThat(scores).hasSize(1 + TOP);
        assertThat(scores.getFirst().id()).isEqualTo(id);
        for (TokenLogprob score : scores) {
            assertThat((double) score.logprob())
                    .as("log-probability of token %d", score.id())
                    .isCloseTo(expected[score.id()], within(TOLERANCE));
        }
        double[] ascending = expected.clone();
        Arrays.sort(ascending);
        for (int rank = 0; rank < TOP; rank++) {
            assertThat((double) scores.get(1 + rank).logprob())
                    .as("rank %d", rank)
                    .isCloseTo(ascending[ascending.length - 1 - rank], within(TOLERANCE));
        }
        assertThat(scores.stream().skip(1).map(TokenLogprob::id)).doesNotHaveDuplicates();
    }
}
