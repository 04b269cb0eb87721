package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.DeviceException;
import roselle.backend.Device;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Epilogue;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.quantization.Group;
import roselle.quantization.GroupScales;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Weights in FP8 on a device that multiplies in FP8: which kernels run, what of their scales goes where, and what is refused. */
class FakeFp8Test {
    private static final int ROWS = 200; // three tiles of 64, and a part of one
    private static final int COLUMNS = 256;
    private static final StepLimits LIMITS = new StepLimits(300, 64, 300, 64, 16);

    private static Device open(FakeDriver driver) {
        return new CudaDevice(driver, 0, new Precision(DataType.BF16, true), FakeKernels::cubin, true);
    }

    /** With a scale for each group, by its place in the grid. */
    private static StoredMatrix matrix(Arena arena, Group group, IntUnaryOperator scale) {
        Shape shape = Shape.of(ROWS, COLUMNS);
        Shape grid = group.grid(shape);
        MemorySegment codes = arena.allocate(shape.elements());
        codes.fill((byte) 0x38);
        MemorySegment scales = arena.allocate(grid.elements() * Float.BYTES, 4);
        for (int i = 0; i < grid.elements(); i++) {
            scales.setAtIndex(ValueLayout.JAVA_FLOAT, i, scale.applyAsInt(i));
        }
        return new StoredMatrix.Scaled(
                new Tensor("weight", DataType.F8_E4M3, shape, codes),
                new GroupScales(group, new Tensor("scales", DataType.F32, grid, scales), 0));
    }

    private static List<FakeKernels.Launch> launches(FakeDriver driver, Device device, Weight weight, int rows) {
        Rows input = Rows.of(device.allocate(DataType.BF16, (long) rows * COLUMNS), COLUMNS);
        Rows output = Rows.of(device.allocate(DataType.BF16, (long) rows * ROWS), ROWS);
        var inputs = new StepInputs(LIMITS, 1);
        inputs.rows = 1;
        inputs.sequences = 1;
        inputs.rowStart[1] = 1;
        driver.takeLaunches();
        device.submit(inputs, (operations, _) -> operations.linear(input, weight, Epilogue.PLAIN, output, rows));
        try (var arena = Arena.ofConfined()) {
            device.read(input, 0, 1, arena.allocate(4L * COLUMNS, 4));
        }
        return driver.takeLaunches().stream()
                .filter(launch -> !launch.kernel().name().startsWith("to_floats"))
                .toList();
    }

    private static float[] floats(FakeDriver driver, long address, int count) {
        try (var arena = Arena.ofConfined()) {
            MemorySegment stored = arena.allocate((long) count * Float.BYTES, 4);
            long stream = driver.createStream(true);
            driver.copyOut(stored, address, stored.byteSize(), stream);
            driver.synchronize(stream);
            driver.destroyStream(stream);
            return stored.toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, quantize_fp8_bf16 linear_fp8_8_bf16",
        "9, quantize_fp8_bf16 linear_fp8_16_bf16",
        "17, quantize_fp8_bf16 linear_fp8_32_bf16",
        "33, quantize_fp8_bf16 linear_fp8_64_bf16",
        "300, quantize_fp8_bf16 linear_fp8_64_bf16"
    })
    void rowsAreQuantizedAndMultiplied(int rows, String kernels) {
        var driver = new FakeDriver(FakeDriver.Card.HOPPER);
        try (var arena = Arena.ofShared();
                Device device = open(driver)) {
            Weight weight = device.load("test", 1, List.of(matrix(arena, new Group(128, 128), i -> i + 1)));
            assertThat(launches(driver, device, weight, rows))
                    .extracting(launch -> launch.kernel().name())
                    .containsExactly(kernels.split(" "));
        }
        assertThat(driver.leaks()).isEmpty();
    }

    /** Of a block of 128 × 128, both tiles of 64 rows have its scale. */
    @Test
    void scalesOfBlocksGoToTiles() {
        var driver = new FakeDriver(FakeDriver.Card.HOPPER);
        try (var arena = Arena.ofShared();
                Device device = open(driver)) {
            Weight weight = device.load("test", 1, List.of(matrix(arena, new Group(128, 128), i -> i + 2)));
            FakeKernels.Launch product = launches(driver, device, weight, 1).getLast();
            assertThat(floats(driver, product.value("tileScales"), 8)).containsExactly(2, 3, 2, 3, 4, 5, 4, 5);
            assertThat(floats(driver, product.value("outputScales"), 256)).containsOnly(1);
        }
    }

    @Test
    void scalesOfRowsGoToOutputs() {
        var driver = new FakeDriver(FakeDriver.Card.HOPPER);
        try (var arena = Arena.ofShared();
                Device device = open(driver)) {
            Weight weight = device.load("test", 1, List.of(matrix(arena, new Group(1, COLUMNS), i -> i + 2)));
            FakeKernels.Launch product = launches(driver, device, weight, 1).getLast();
            assertThat(floats(driver, product.value("tileScales"), 8)).containsOnly(1);
            float[] outputs = floats(driver, product.value("outputScales"), 256);
            for (int row = 0; row < 256; row++) {
                assertThat(outputs[row]).isEqualTo(row < ROWS ? row + 2 : 1);
            }
        }
    }

    @Test
    void refusesScalesThatAreNeitherOfTilesNorOfRows() {
        var driver = new FakeDriver(FakeDriver.Card.HOPPER);
        try (var arena = Arena.ofShared();
                Device device = open(driver)) {
            List<StoredMatrix> blocks = List.of(matrix(arena, new Group(1, 128), i -> i + 2));
            assertThatThrownBy(() -> device.load("test", 1, blocks))
                    .isInstanceOf(DeviceException.class)
                    .hasMessage(
                            "weight test has scales that differ along its rows and along its columns, which products"
                                    + " in FP8 cannot take: take --compute bf16");
        }
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void plansForTheCodesAndScalesOfAStepsRows() {
        var demands = new StepDemands(LIMITS, KvType.BF16, 1, List.of(), 256, 512, 0, 0, 0, 0);
        try (Device plain = new FakeDriver(FakeDriver.Card.HOPPER).open(DataType.BF16);
                Device device = open(new FakeDriver(FakeDriver.Card.HOPPER))) {
            long scales = 512 / 128 * 384 * Float.BYTES; // of 300 rows, whole blocks of 128
            assertThat(device.stepBytes(demands) - plain.stepBytes(demands)).isEqualTo(300 * 512 + scales);
        }
    }

    @Test
    void aWeightTakesWhatWasPlanned() {
        var driver = new FakeDriver(FakeDriver.Card.HOPPER);
        try (var arena = Arena.ofShared();
                Device device = open(driver)) {
            List<StoredMatrix> blocks = List.of(matrix(arena, new Group(128, 128), i -> i + 1));
            long tiles = 4L * 2; // of 64 rows, of 128 columns
            assertThat(device.loadBytes(1, blocks)).isEqualTo(tiles * 64 * 128 + (tiles + 256) * Float.BYTES);
        }
    }

    /** Once, since the choice then changes nothing. */
    @Test
    void saysWhereNoWeightIsForIt() {
        var said = new ArrayList<String>();
        var logger = Logger.getLogger("roselle.cuda.gemm.WeightLoader");
        var hearing = new Handler() {
            @Override
            public void publish(LogRecord record) {
                said.add(record.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(hearing);
        var demands = new StepDemands(LIMITS, KvType.BF16, 1, List.of(), 256, 512, 0, 0, 0, 0);
        try (var arena = Arena.ofShared();
                Device without = open(new FakeDriver(FakeDriver.Card.HOPPER));
                Device with = open(new FakeDriver(FakeDriver.Card.HOPPER))) {
            with.load("test", 1, List.of(matrix(arena, new Group(128, 128), i -> i + 1)));
            with.prepare(demands);
            assertThat(said).isEmpty();
            without.prepare(demands);
            assertThat(said).hasSize(1).first().asString().startsWith("event=no-fp8-weights");
        } finally {
            logger.removeHandler(hearing);
        }
    }
}
