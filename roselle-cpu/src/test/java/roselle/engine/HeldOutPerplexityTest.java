package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationRequest;
import roselle.backend.DeviceOptions;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.hub.BundledModel;
import roselle.tokenizer.EncodeOptions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a rounded precision costs the demo model, on text of its kind that its training never showed. */
class HeldOutPerplexityTest {
    private static final double LARGEST_CHANGE = 0.002;
    private static final int THREADS = 1;

    /** A part of a document that was encoded by itself in training, too, and whether the model was to learn it. */
    private record Piece(String text, boolean counts) {
        int[] tokens(Engine engine) {
            return engine.tokenizer().encode(text, new EncodeOptions(false, true));
        }
    }

    @TempDir
    private Path folder = Path.of("");

    @Tag("long")
    @ParameterizedTest
    @EnumSource(names = {"VNNI", "BF16", "AMX"})
    void roundingHardlyChangesIt(CpuPath path) throws IOException {
        assumeTrue(CpuDevice.paths().contains(path), "the processor lacks " + path.label());
        var options = CpuOptions.of(THREADS).with(path);
        assumeTrue(
                path == CpuPath.VNNI || CpuDevice.rounds(options.with(Precision.BF16)),
                path.label() + " does not round");
        Path model = BundledModel.DEMO.unpackInto(folder);

        List<Double> exactly = logprobs(model, path, Precision.F32);
        List<Double> roundedly = logprobs(model, path, path == CpuPath.VNNI ? Precision.AUTO : Precision.BF16);
        double exact = perplexity(exactly);
        double rounded = perplexity(roundedly);

        System.out.printf(
                "demo model, %d held-out tokens, %s: perplexity %.6f in f32, %.6f rounded; mean change of a logprob %.2g%n",
                exactly.size(), path.label(), exact, rounded, meanChange(exactly, roundedly));
        assertThat(exact).isBetween(1.05, 1.6);
        assertThat(rounded).isNotEqualTo(exact).isCloseTo(exact, within(LARGEST_CHANGE * exact));
    }

    /** Sums of integers are exact, whatever adds them. */
    @Tag("long")
    @Test
    void bytesGiveTheSameBitsByAvx2AsByVnni() throws IOException {
        assumeTrue(CpuDevice.paths().contains(CpuPath.VNNI), "the processor lacks vnni");
        assumeTrue(!CpuDevice.paths().contains(CpuPath.BF16), "attention is bfloat16 there");
        Path model = BundledModel.DEMO.unpackInto(folder);
        assertThat(logprobs(model, CpuPath.AVX2, Precision.INT8))
                .isEqualTo(logprobs(model, CpuPath.VNNI, Precision.INT8));
    }

    private static List<Double> logprobs(Path model, CpuPath path, Precision precision) throws IOException {
        var device = new DeviceOptions("cpu", THREADS, path.label(), precision.name());
        try (var engine = Engine.open(TestConfig.of(model).with(device))) {
            List<List<Piece>> documents = documents();
            List<Generation> generations = documents.stream()
                    .map(document -> engine.submit(request(engine, document)))
                    .toList();
            var logprobs = new ArrayList<Double>();
            for (int i = 0; i < documents.size(); i++) {
                PromptScored scored = scored(generations.get(i));
                int token = 0;
                for (Piece piece : documents.get(i)) {
                    int end = token + piece.tokens(engine).length;
                    for (; token < end; token++) {
                        if (piece.counts() && token > 0) { // nothing stands before the first
                            logprobs.add((double)
                                    scored.logprobs().get(token).getFirst().logprob());
                        }
                    }
                }
            }
            return logprobs;
        }
    }

    private static double perplexity(List<Double> logprobs) {
        assertThat(logprobs).hasSizeGreaterThan(2000);
        return Math.exp(
                -logprobs.stream().mapToDouble(Double::doubleValue).average().orElseThrow());
    }

    private static double meanChange(List<Double> before, List<Double> after) {
        return IntStream.range(0, before.size())
                .mapToDouble(i -> Math.abs(before.get(i) - after.get(i)))
                .average()
                .orElseThrow();
    }

    private static GenerationRequest request(Engine engine, List<Piece> document) {
        int[] tokens = document.stream()
                .flatMapToInt(piece -> Arrays.stream(piece.tokens(engine)))
                .toArray();
        return GenerationRequest.builder()
                .tokens(tokens)
                .maxTokens(1)
                .promptLogprobs(true)
                .build();
    }

    private static PromptScored scored(Generation generation) {
        try (generation) {
            for (var event : generation) {
                if (event instanceof PromptScored scored) {
                    return scored;
                }
            }
        }
        throw new AssertionError("no scores");
    }

    private static List<List<Piece>> documents() throws IOException {
        try (InputStream file = HeldOutPerplexityTest.class.getResourceAsStream("/demo-model/held-out.json")) {
            assertThat(file).isNotNull();
            var documents = new ArrayList<List<Piece>>();
            for (JsonNode document : new JsonMapper().readTree(file)) {
                var pieces = new ArrayList<Piece>();
                document.forEach(piece -> pieces.add(
                        new Piece(piece.get(0).asString(), piece.get(1).asInt() == 1)));
                documents.add(pieces);
            }
            return documents;
        }
    }
}
