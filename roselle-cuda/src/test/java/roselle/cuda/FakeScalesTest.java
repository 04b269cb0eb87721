package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.DeviceException;
import roselle.backend.Device;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Epilogue;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.quantization.Group;
import roselle.quantization.GroupScales;
import roselle.quantization.StoredMatrix;
import roselle.tensor.CodeValues;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Codes with scales in a second tensor: blocks of both go to the device, and what is not made of such blocks is refused. */
class FakeScalesTest {
    private static final int COLUMNS = 256;
    private static final StepLimits LIMITS = new StepLimits(64, 64, 64, 64, 16);

    private static StoredMatrix matrix(Arena arena, int rows, int groupColumns) {
        var group = new Group(128, groupColumns);
        Shape shape = Shape.of(rows, COLUMNS);
        Shape grid = group.grid(shape);
        MemorySegment codes = arena.allocate(shape.elements());
        for (long i = 0; i < codes.byteSize(); i++) {
            codes.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 / 5));
        }
        MemorySegment scales = arena.allocate(grid.elements() * Float.BYTES, 4);
        for (long i = 0; i < grid.elements(); i++) {
            scales.setAtIndex(ValueLayout.JAVA_FLOAT, i, i + 1.5f);
        }
        return new StoredMatrix.Scaled(
                new Tensor("weight", DataType.F8_E4M3, shape, codes),
                new GroupScales(group, new Tensor("scales", DataType.F32, grid, scales), 0));
    }

    /** Launches of a product of so many rows. */
    private static List<FakeKernels.Launch> launches(FakeDriver driver, Device device, Weight weight, int rows) {
        Rows input = Rows.of(device.allocate(DataType.BF16, (long) rows * COLUMNS), COLUMNS);
        int outputs = weight.rows();
        Rows output = Rows.of(device.allocate(DataType.BF16, (long) rows * outputs), outputs);
        var inputs = new StepInputs(LIMITS, 1);
        inputs.rows = 1;
        inputs.sequences = 1;
        inputs.rowStart[1] = 1;
        device.submit(inputs, (operations, _) -> operations.linear(input, weight, Epilogue.PLAIN, output, rows));
        try (var arena = Arena.ofConfined()) {
            device.read(input, 0, 1, arena.allocate(4L * COLUMNS, 4));
        }
        return driver.takeLaunches().stream()
                .filter(launch -> !launch.kernel().name().matches("(to_floats|pack_).*"))
                .toList();
    }

    @Test
    void blocksOfScaleAndCodesGoToTheTensorCores() {
        try (var arena = Arena.ofShared()) {
            var driver = new FakeDriver(FakeDriver.Card.ADA);
            try (var device = driver.open(DataType.BF16)) {
                StoredMatrix first = matrix(arena, 200, 128);
                List<StoredMatrix> blocks = List.of(first, matrix(arena, 56, 256));
                Weight weight = device.load("test", 1, blocks);
                assertThat(device.loadBytes(1, blocks)).isGreaterThan(256 * COLUMNS / 128 * 132);
                List<FakeKernels.Launch> few = launches(driver, device, weight, 3);
                assertThat(few)
                        .extracting(launch -> launch.kernel().name())
                        .containsExactly("linear_few_8_f8_e4m3_128_bf16", "linear_few_8_f8_e4m3_128_bf16");
                assertThat(launches(driver, device, weight, 60))
                        .extracting(launch -> launch.kernel().name())
                        .containsExactly("linear_many_f8_e4m3_128_bf16", "linear_many_f8_e4m3_128_bf16");
                MemorySegment stored = arena.allocate(200 * COLUMNS / 128 * 132);
                long stream = driver.createStream(true);
                driver.copyOut(stored, few.getFirst().value("weight"), stored.byteSize(), stream);
                driver.synchronize(stream);
                driver.destroyStream(stream);
                var numbers = new float[200 * COLUMNS];
                Dequantizer.of(DataType.F8_E4M3_128).dequantize(stored, 0, numbers, 0, numbers.length);
                assertThat(numbers).containsExactly(first.numbers());
            }
        }
    }

    @Test
    void expertsAreOneStackOfBlocks() {
        try (var arena = Arena.ofShared()) {
            var driver = new FakeDriver(FakeDriver.Card.AMPERE);
            try (var device = driver.open(DataType.F16)) {
                List<StoredMatrix> experts = List.of(matrix(arena, 40, 128), matrix(arena, 40, 128));
                Weight weight = device.load("experts", 2, experts);
                assertThat(weight.matrices()).isEqualTo(2);
                assertThat(weight.rows()).isEqualTo(40);
            }
        }
    }

    private static StoredMatrix.Scaled wholeNumbers(Arena arena, int bits, int size, @Nullable Tensor order) {
        return wholeNumbers(arena, bits, size, order, 40);
    }

    private static StoredMatrix.Scaled wholeNumbers(Arena arena, int bits, int size, @Nullable Tensor order, int rows) {
        Shape shape = Shape.of(rows, COLUMNS);
        MemorySegment codes = arena.allocate(shape.elements());
        for (long i = 0; i < codes.byteSize(); i++) {
            codes.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 / 5 % (1 << bits) - (1 << bits) / 2));
        }
        var group = new Group(1, size);
        Shape grid = group.grid(shape);
        MemorySegment scales = arena.allocate(grid.elements() * Float.BYTES, 4);
        for (long i = 0; i < grid.elements(); i++) {
            scales.setAtIndex(ValueLayout.JAVA_FLOAT, i, i + 1.5f);
        }
        return new StoredMatrix.Scaled(
                new Tensor("weight", DataType.I8, shape, codes),
                new GroupScales(group, new Tensor("scales", DataType.F32, grid, scales), 0, order),
                bits);
    }

    @ParameterizedTest
    @CsvSource({"4, 128, i4_128", "4, 32, i4_32", "3, 64, i4_32", "8, 256, i8_128", "8, 32, i8_32"})
    void wholeNumbersGoToTheTensorCoresInAsManyBitsAsTheyHave(int bits, int size, String type) {
        try (var arena = Arena.ofShared()) {
            var driver = new FakeDriver(FakeDriver.Card.AMPERE);
            try (var device = driver.open(DataType.BF16)) {
                List<StoredMatrix> blocks = List.of(wholeNumbers(arena, bits, size, null));
                Weight weight = device.load("test", 1, blocks);
                assertThat(launches(driver, device, weight, 3))
                        .extracting(launch -> launch.kernel().name())
                        .containsExactly("linear_few_8_" + type + "_bf16");
                long bytes = 40L * COLUMNS * (bits > 4 ? 8 : 4) / 8;
                assertThat(device.loadBytes(1, blocks)).isBetween(bytes, 2 * bytes);
            }
        }
    }

    /** On Hopper codes go into tiles in as many bits, of several blocks where those before the last one are whole tiles. */
    @ParameterizedTest
    @CsvSource({"4, 128, i4_128, 4.51", "4, 32, i4_32, 6.01", "8, 256, i8_128, 8.26", "8, 32, i8_32, 9.01"})
    void wholeNumbersArePackedForHopper(int bits, int size, String type, double bitsOfANumber) {
        try (var arena = Arena.ofShared()) {
            var driver = new FakeDriver(FakeDriver.Card.HOPPER);
            try (var device = driver.open(DataType.BF16)) {
                StoredMatrix small = wholeNumbers(arena, bits, size, null);
                List<StoredMatrix> blocks = List.of(wholeNumbers(arena, bits, size, null, 128), small);
                assertThat(8.0 * device.loadBytes(1, blocks) / (256 * COLUMNS)).isLessThan(bitsOfANumber);
                Weight weight = device.load("test", 1, blocks);
                driver.takeLaunches();
                assertThat(launches(driver, device, weight, 8))
                        .extracting(launch -> launch.kernel().name())
                        .containsExactly("coded_8_" + type + "_bf16");
                assertThat(launches(driver, device, weight, 33))
                        .extracting(launch -> launch.kernel().name())
                        .containsExactly("coded_64_" + type + "_bf16");
                Weight table = device.load("table", 1, List.of(small, small));
                driver.takeLaunches();
                assertThat(launches(driver, device, table, 8))
                        .extracting(launch -> launch.kernel().name())
                        .containsExactly("linear_few_8_" + type + "_bf16", "linear_few_8_" + type + "_bf16");
            }
        }
    }

    @Test
    void blocksOfSeveralTypesWriteTheirColumnsOfOneOutput() {
        try (var arena = Arena.ofShared()) {
            var driver = new FakeDriver(FakeDriver.Card.HOPPER);
            try (var device = driver.open(DataType.BF16)) {
                List<StoredMatrix> blocks = List.of(
                        quantized(arena, DataType.Q4_K, 128),
                        quantized(arena, DataType.Q4_K, 64),
                        quantized(arena, DataType.Q6_K, 64));
                long apart = device.loadBytes(1, blocks.subList(0, 2)) + device.loadBytes(1, blocks.subList(2, 3));
                assertThat(device.loadBytes(1, blocks)).isEqualTo(apart);
                Weight weight = device.load("test", 1, blocks);
                assertThat(weight.rows()).isEqualTo(256);
                driver.takeLaunches();
                List<FakeKernels.Launch> launches = launches(driver, device, weight, 8);
                assertThat(launches)
                        .extracting(launch -> launch.kernel().name())
                        .containsExactly("coded_8_q4_k_bf16", "coded_8_q6_k_bf16");
                assertThat(launches)
                        .extracting(launch -> (int) launch.value("outputs"))
                        .containsExactly(192, 64);
                assertThat(launches.getLast().value("output"))
                        .isEqualTo(launches.getFirst().value("output") + 192 * Short.BYTES);
                assertThat(launches)
                        .extracting(launch -> launch.value("outputStride"))
                        .containsExactly(256L, 256L);
            }
        }
    }

    private static StoredMatrix quantized(Arena arena, DataType type, int rows) {
        MemorySegment data = arena.allocate(rows * type.rowBytes(COLUMNS), 64);
        return StoredMatrix.of(new Tensor("weight", type, Shape.of(rows, COLUMNS), data));
    }

    /** Every {@code groups}-th column is of one group. */
    private static Tensor order(Arena arena, int groups) {
        MemorySegment of = arena.allocate(COLUMNS * 4L, 4);
        for (int column = 0; column < COLUMNS; column++) {
            of.setAtIndex(ValueLayout.JAVA_INT, column, column % groups);
        }
        return new Tensor("g_idx", DataType.I32, Shape.of(COLUMNS), of);
    }

    @Test
    void rowsAreOrderedForColumnsWhoseNeighboursAreOfOtherGroups() {
        try (var arena = Arena.ofShared()) {
            var driver = new FakeDriver(FakeDriver.Card.HOPPER);
            try (var device = driver.open(DataType.BF16)) {
                StoredMatrix plain = wholeNumbers(arena, 4, 128, null);
                List<StoredMatrix> blocks = List.of(wholeNumbers(arena, 4, 128, order(arena, 2)));
                assertThat(device.loadBytes(1, blocks))
                        .isEqualTo(device.loadBytes(1, List.of(plain)) + COLUMNS * Integer.BYTES);
                Weight weight = device.load("test", 1, blocks);
                driver.takeLaunches();
                List<FakeKernels.Launch> launches = launches(driver, device, weight, 8);
                assertThat(launches)
                        .extracting(launch -> launch.kernel().name())
                        .containsExactly("order_bf16", "coded_8_i4_128_bf16");
                MemorySegment columns = arena.allocate(COLUMNS * 4L, 4);
                long stream = driver.createStream(true);
                driver.copyOut(columns, launches.getFirst().value("order"), columns.byteSize(), stream);
                driver.synchronize(stream);
                driver.destroyStream(stream);
                assertThat(columns.getAtIndex(ValueLayout.JAVA_INT, 1)).isEqualTo(2);
                assertThat(columns.getAtIndex(ValueLayout.JAVA_INT, 128)).isEqualTo(1);
            }
        }
    }

    @Test
    void refusesOrdersThatNoKernelReads() {
        try (var arena = Arena.ofShared();
                var device = new FakeDriver(FakeDriver.Card.HOPPER).open(DataType.BF16)) {
            StoredMatrix ordered = wholeNumbers(arena, 4, 128, order(arena, 2));
            StoredMatrix plain = wholeNumbers(arena, 4, 128, null, 128);
            StoredMatrix uneven = wholeNumbers(arena, 4, 128, order(arena, 1));
            assertThatThrownBy(() -> device.loadBytes(1, List.of(plain, ordered)))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("quantized in different orders");
            assertThatThrownBy(() -> device.loadBytes(2, List.of(ordered, ordered)))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("one of several matrices");
            assertThatThrownBy(() -> device.loadTable("table", ordered))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("table of embeddings");
            assertThatThrownBy(() -> device.loadBytes(1, List.of(uneven)))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("has a scale for each 1×128");
        }
    }

    @Test
    void refusesABlockOfTwoScales() {
        try (var arena = Arena.ofShared();
                var backend = new FakeDriver(FakeDriver.Card.HOPPER).open(DataType.BF16)) {
            List<StoredMatrix> blocks = List.of(matrix(arena, 128, 64));
            assertThatThrownBy(() -> backend.loadBytes(1, blocks))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("tensor weight has a scale for each 128×64")
                    .hasMessageContaining("the device cpu");
            assertThatThrownBy(() -> backend.load("test", 1, blocks)).isInstanceOf(DeviceException.class);
        }
    }

    @Test
    void refusesPlacesInATable() {
        try (var arena = Arena.ofShared();
                var device = new FakeDriver(FakeDriver.Card.HOPPER).open(DataType.BF16)) {
            StoredMatrix.Scaled plain = wholeNumbers(arena, 4, 128, null);
            var values = CodeValues.of(-1f, 0f, 1f);
            List<StoredMatrix> blocks = List.of(new StoredMatrix.Tabled(plain.codes(), values, plain.scales()));
            assertThatThrownBy(() -> device.loadBytes(1, blocks))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("tensor weight has a scale for each 1×128")
                    .hasMessageContaining("the device cpu");
        }
    }
}
