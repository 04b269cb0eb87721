package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.KvType;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.gemm.InterpretedTiles;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.model.Decoder;
import roselle.model.KvPages;
import roselle.model.LoadPlan;
import roselle.model.MemoryPlan;
import roselle.model.architecture.Architectures;
import roselle.model.weights.Blueprint;
import roselle.tensor.DataType;
import roselle.testing.ChildJvm;

/** The memory that is planned is the memory that is taken, and none is taken later. */
class MemoryPlanTest {
    private static final StepLimits LIMITS = new StepLimits(24, 3, 5, 100, 16);

    @ParameterizedTest
    @MethodSource("roselle.engine.SameBitsTest#models")
    void theBytesOfThePlanAreThoseTaken(Path model) {
        check(model, CpuPath.VECTOR, KvType.F16);
        check(model, CpuPath.AUTO, KvType.INT4);
    }

    private static void check(Path model, CpuPath path, KvType kv) {
        try (Checkpoint checkpoint = Checkpoints.open(model);
                var device = new CpuDevice(CpuOptions.of(1).with(path))) {
            Blueprint blueprint = Architectures.read(checkpoint);
            List<Integer> pages =
                    Collections.nCopies(blueprint.spec().kvGroups().size(), 7);
            var load = LoadPlan.of(checkpoint, blueprint, device);
            var plan = MemoryPlan.of(load, blueprint.spec(), LIMITS, kv, DataType.F32);
            try (Decoder decoder = Decoder.open(checkpoint, blueprint, device, LIMITS, new KvPages(kv, pages))) {
                assertThat(device.allocatedBytes() + decoder.rearrangedBytes())
                        .as("with %s", device.describe())
                        .isEqualTo(plan.totalBytes(pages) - load.weightBytes());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("roselle.engine.SameBitsTest#models")
    void whatThreadsTakeForThemselvesIsPlanned(Path model) {
        try (var device = new CpuDevice(CpuOptions.of(2))) {
            checkOwn(model, device, KvType.FP8);
        }
        if (InterpretedTiles.arePossible()) {
            try (CpuDevice device = InterpretedTiles.backend(1)) {
                checkOwn(model, device, KvType.F16);
                assertThat(device.ownBytes()).as("with AMX").isGreaterThan(768 << 10);
            }
        }
    }

    private static void checkOwn(Path model, CpuDevice device, KvType kv) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            Blueprint blueprint = Architectures.read(checkpoint);
            List<Integer> pages =
                    Collections.nCopies(blueprint.spec().kvGroups().size(), 7);
            long planned = device.stepBytes(blueprint.spec().demands(LIMITS, kv));
            try (Decoder decoder = Decoder.open(checkpoint, blueprint, device, LIMITS, new KvPages(kv, pages))) {
                long ready = device.ownBytes();
                step(device, decoder, 0, 20); // many rows, then one
                step(device, decoder, 20, 1);
                assertThat(device.ownBytes()).as("after steps").isEqualTo(ready);
                assertThat(ready).as("with %s", device.describe()).isLessThanOrEqualTo(planned);
            }
        }
    }

    private static void step(CpuDevice device, Decoder decoder, int from, int rows) {
        var inputs = new StepInputs(LIMITS, decoder.spec().kvGroups().size());
        for (int[] table : inputs.pageTable) {
            Arrays.setAll(table, page -> Math.min(page, 6));
        }
        inputs.rows = rows;
        inputs.sequences = 1;
        inputs.outputs = 1;
        inputs.outputRow[0] = rows - 1;
        inputs.rowStart[1] = rows;
        inputs.contextLength[0] = from;
        Arrays.fill(inputs.tokenIds, 3);
        Arrays.fill(inputs.sampledRow, -1);
        Arrays.setAll(inputs.positions, row -> from + row);
        device.submit(inputs, decoder);
    }

    @Tag("long")
    @Test
    void theProcessGrowsByThePlanAndNoMoreOnceItIsReady() {
        String said = ChildJvm.run(
                        List.of("-XX:NativeMemoryTracking=summary"),
                        MemoryProbe.class,
                        model("gpt2"),
                        model("deepseek_v3"),
                        model("gpt_oss"))
                .success();
        assertThat(said).contains("3 models as planned");
    }

    private static String model(String name) {
        return Path.of("../roselle-engine/src/test/resources/tiny-models", name).toString();
    }
}
