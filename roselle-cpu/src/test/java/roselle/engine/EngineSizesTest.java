package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import roselle.api.CapacityException;
import roselle.api.InvalidRequestException;
import roselle.backend.memory.KvType;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.model.architecture.Architectures;

/** What is planned for machines of other sizes than this one. */
class EngineSizesTest {
    private static final Path MODEL = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");

    private static EngineSizes sizes(int context, long machineBytes) {
        var config = EngineConfig.of(MODEL).with(new BatchOptions(context, 4, 64, 0, 4));
        try (Checkpoint checkpoint = Checkpoints.open(MODEL);
                var backend = new CpuDevice(CpuOptions.of(1).with(CpuPath.VECTOR))) { // takes nothing for itself
            return EngineSizes.of(config, checkpoint, Architectures.read(checkpoint), backend, machineBytes);
        }
    }

    @Test
    void whatIsPlannedFitsIntoTheMachine() {
        for (long machine = 64 << 20; machine > 1 << 20; machine -= 777_777) {
            EngineSizes sizes = sizes(0, machine);
            assertThat(sizes.totalBytes()).as("of %d", machine).isLessThanOrEqualTo(machine);
            assertThat(sizes.kvBytes()).as("an eighth of %d", machine).isLessThanOrEqualTo(machine / 8);
        }
    }

    @Test
    void lessMemoryGivesLessContextRatherThanNothing() {
        int all = sizes(0, 64 << 20).limits().maxContext();
        int some = sizes(0, 900_000).limits().maxContext();
        assertThat(some).isBetween(32, all - 1);
    }

    @Test
    void aModelTooLargeForTheMachineIsRefusedWithBothNumbers() {
        assertThatThrownBy(() -> sizes(0, 200_000))
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("in all, but there are ")
                .hasMessageContaining("and 0.2 MiB; not even the smallest context fits: use a smaller model");
        assertThatThrownBy(() -> sizes(100_000, 8 << 20))
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("a context of 100000 tokens needs ")
                .hasMessageContaining("the largest context that fits is ");
    }

    @Test
    void statesAreCountedAsWhatTheyAre() {
        Path model = MODEL.resolveSibling("qwen3_5");
        EnginePlan plan = Engine.plan(EngineConfig.of(model).with(new BatchOptions(512, 4, 64, 0, 4)));
        assertThat(plan.caches()).extracting(EnginePlan.Cache::name).containsExactly("convolution", "delta", "full");
        EnginePlan.Cache states = plan.caches().get(1);
        int row = 2 * 12 + 4 * 16 + 4; // keys, corrections, sums of decays
        int state = 4 * 12 * 16;
        assertThat(states.bytes())
                .isEqualTo((long) states.pages() * states.layers() * (16 * row + state) * Float.BYTES);
        assertThat(states.pages()).as("far less than one behind each page").isLessThan(4 * 512 / 16);
        assertThat(plan.caches()).extracting(EnginePlan.Cache::holdsStates).containsExactly(true, true, false);
        assertThat(plan.describe().lines())
                .anyMatch(line ->
                        line.matches("states .* MiB, f32, 3 delta layers, 36 states, each with rows of 16 tokens"))
                .anyMatch(line -> line.matches("kv cache .* MiB, f16, 1 full layers, .* pages of 16 tokens"));
    }

    @Test
    void checkpointsAreStatesBesideThoseOfSequences() {
        EngineConfig config = EngineConfig.of(MODEL.resolveSibling("qwen3_5")).with(new BatchOptions(512, 4, 64, 0, 4));
        EnginePlan plan = Engine.plan(config.with(CacheOptions.DEFAULT.withCheckpoints(33)));
        assertThat(plan.caches().get(1).pages()).isEqualTo(4 * (8 + 33));
        assertThat(plan.caches().get(2).pages())
                .as("keys and values")
                .isEqualTo(Engine.plan(config).caches().get(2).pages());
        assertThatThrownBy(() -> CacheOptions.DEFAULT.withCheckpoints(0))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("checkpoints is 0: it must be at least 1");
    }

    @Test
    void codesOfKeysAndValuesAreCountedWithTheirScales() {
        EnginePlan halves = planned("llama", "f16");
        EnginePlan codes = planned("llama", "int4");
        int size = 16; // of a head
        int ofHalves = 2 * 2 * size;
        int ofCodes = 2 * (size / 2 + 2 * Float.BYTES);
        assertThat(bytesOfPage(codes, 0) * ofHalves).isEqualTo(bytesOfPage(halves, 0) * ofCodes);
        assertThat(codes.describe()).contains(", int4, ");
    }

    @Test
    void windowsStayInSixteenBits() {
        EnginePlan plan = planned("gemma3", "int8");
        assertThat(plan.caches())
                .extracting(cache -> cache.window() == 0 ? KvType.INT8 : KvType.F16)
                .containsExactlyElementsOf(
                        plan.caches().stream().map(EnginePlan.Cache::type).toList())
                .doesNotHaveDuplicates();
    }

    private static EnginePlan planned(String model, String kvType) {
        return Engine.plan(EngineConfig.of(MODEL.resolveSibling(model))
                .with(new BatchOptions(512, 4, 64, 0, 4))
                .with(new CacheOptions(kvType, 1 << 24, 16, true)));
    }

    private static long bytesOfPage(EnginePlan plan, int group) {
        EnginePlan.Cache cache = plan.caches().get(group);
        return cache.bytes() / cache.pages();
    }

    @Test
    void pagesShorterThanWhatConvolutionsSeeAreRefused() {
        var short7 = EngineConfig.of(MODEL.resolveSibling("lfm2")).with(new CacheOptions("f32", 1 << 24, 7, true));
        assertThatThrownBy(() -> Engine.plan(short7))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("page tokens is 7: models whose layers keep a state need pages of at least 8");
    }

    @Test
    void theLargestContextThatFitsIsToldExactly() {
        for (int asked : new int[] {4096, BatchOptions.MAX_SIZE}) {
            int largest = largestContext(asked);
            assertThat(Engine.plan(small(largest)).context()).isEqualTo(largest);
            assertThat(largestContext(largest + 1)).isEqualTo(largest);
        }
        assertThatThrownBy(() -> Engine.plan(EngineConfig.of(MODEL).with(new CacheOptions("f32", 1, 16, true))))
                .isInstanceOf(CapacityException.class)
                .hasMessageContaining("not even the smallest context fits");
    }

    private static EngineConfig small(int context) {
        return EngineConfig.of(MODEL)
                .with(new CacheOptions("f32", 1 << 20, 16, true))
                .with(new BatchOptions(context, 4, 64, 0, 4));
    }

    private static int largestContext(int asked) {
        try {
            return Engine.plan(small(asked)).context();
        } catch (CapacityException refused) {
            String message = String.valueOf(refused.getMessage());
            return Integer.parseInt(message.substring(message.lastIndexOf(' ') + 1));
        }
    }
}
