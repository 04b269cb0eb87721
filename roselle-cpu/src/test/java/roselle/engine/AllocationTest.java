package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import roselle.testing.ChildJvm;
import roselle.testing.SharedData;

/**
 * A decoding step allocates the status that other threads read, and nothing else, whatever the layers, the sequences and their
 * tokens.
 */
class AllocationTest {
    /**
     * A JVM whose optimising compiler happened to inline another way keeps some vectors as objects for as long as it runs: one
     * in several hundred does. What the code itself allocates shows in each.
     */
    private static final int JVMS = 3;

    private static final Set<String> KINDS = Set.of(
            "gpt2",
            "gemma2",
            "gemma3",
            "gpt_oss",
            "mixtral",
            "qwen2_moe",
            "deepseek_v32",
            "deepseek_v4",
            "minimax_m3_vl_text",
            "gemma3n_text",
            "apertus",
            "falcon_h1",
            "hy_v4",
            "minimax",
            "phimoe",
            "mamba",
            "qwen3_5_moe",
            "lfm2",
            "granite");

    /** Bytes of a step on the engine's thread and on the pool's, those of a status, and the steps until it was so. */
    private record Bytes(long engine, long status, long pool, long steps) {
        boolean isOneStatus() {
            return engine == status && pool == 0;
        }
    }

    @Tag("long")
    @Test
    void aStepAllocatesNothingForALayerOrAToken() {
        check(Path.of("../roselle-engine/src/test/resources/tiny-models/deepseek_v3"), "off");
    }

    @Tag("long")
    @Test
    void aStepThatIsOverlappedAllocatesNoMore() {
        check(Path.of("../roselle-engine/src/test/resources/tiny-models/llama"), 4, "on");
    }

    @Tag("long")
    @Test
    void aStepOfOneSequenceThatIsOverlappedAllocatesNoMore() {
        check(Path.of("../roselle-engine/src/test/resources/tiny-models/llama"), 1, "on");
    }

    /** Each family whose steps have an operation that no other's have, in a JVM of its own, as many at a time as there are processors. */
    @Tag("long")
    @TestFactory
    Stream<DynamicTest> aStepOfAnyKindOfFamilyAllocatesNothingForALayerOrAToken() throws IOException {
        List<Path> models = Stream.concat(SameBitsTest.models(), SameBitsTest.similarModels())
                .filter(model -> KINDS.contains(model.getFileName().toString()))
                .toList();
        assertThat(models).hasSameSizeAs(KINDS);
        ExecutorService threads =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        List<Future<?>> checks = models.stream()
                .<Future<?>>map(model -> threads.submit(() -> check(model, 4, "off")))
                .toList();
        threads.shutdown();
        return IntStream.range(0, models.size())
                .mapToObj(index ->
                        DynamicTest.dynamicTest(models.get(index).getFileName().toString(), checks.get(index)::get));
    }

    @Tag("long")
    @Tag("shared-data")
    @Test
    void fiveLayersAllocateNoMoreThanTwo() {
        check(SharedData.path("stories260k/stories260K.gguf"), "off");
    }

    @Tag("long")
    @Test
    void anObjectForEachSequenceIsFound() {
        Path model = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");
        Bytes bytes = measure(model, 4, true, "off");
        assertThat(bytes.engine()).isGreaterThanOrEqualTo(bytes.status() + 4 * 8);
    }

    private static void check(Path model, String overlap) {
        for (int sequences : new int[] {1, 4}) {
            check(model, sequences, overlap);
        }
    }

    private static void check(Path model, int sequences, String overlap) {
        var measured = new ArrayList<Bytes>();
        while (measured.size() < JVMS && measured.stream().noneMatch(Bytes::isOneStatus)) {
            measured.add(measure(model, sequences, false, overlap));
        }
        assertThat(measured)
                .as("bytes of a step of %s with %d sequences, in JVM after JVM", model.getFileName(), sequences)
                .anyMatch(Bytes::isOneStatus);
    }

    private static Bytes measure(Path model, int sequences, boolean leaks, String overlap) {
        String said = ChildJvm.run(
                        List.of("-XX:+UseParallelGC", "-XX:-BackgroundCompilation"),
                        AllocationProbe.class,
                        model.toString(),
                        Integer.toString(sequences),
                        Boolean.toString(leaks),
                        overlap)
                .success();
        Matcher numbers = Pattern.compile("engine (\\d+) status (\\d+) pool (\\d+) after (\\d+) steps")
                .matcher(said);
        assertThat(numbers.find()).as(said).isTrue();
        System.out.println(
                model.getFileName() + ", " + sequences + " sequences, overlap " + overlap + ": " + numbers.group());
        return new Bytes(
                Long.parseLong(numbers.group(1)),
                Long.parseLong(numbers.group(2)),
                Long.parseLong(numbers.group(3)),
                Long.parseLong(numbers.group(4)));
    }
}
