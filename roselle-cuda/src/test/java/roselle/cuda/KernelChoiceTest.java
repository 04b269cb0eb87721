package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import roselle.backend.Device;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.gemm.Addition;
import roselle.cuda.gemm.CodedLinear;
import roselle.cuda.gemm.CudaWeight;
import roselle.cuda.gemm.Fp8Linear;
import roselle.cuda.gemm.Fp8Weight;
import roselle.cuda.gemm.LinearKernels;
import roselle.cuda.gemm.MmaLinear;
import roselle.cuda.gemm.TileProducts;
import roselle.cuda.kernel.CodedFormat;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.Cleanup;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.memory.Gpu;
import roselle.cuda.row.RowKernels;
import roselle.tensor.DataType;

/**
 * Which kernel is taken for which shape and how it is started, held to a table that was written when the choices were measured
 * on a GPU: whoever changes a line has figures for it.
 *
 * <p>The table as the code has it now is left in {@code target/kernel-choices.txt}.
 */
class KernelChoiceTest {
    private static final String TABLE = "kernel-choices.txt";
    private static final List<Card> CARDS =
            List.of(Card.AMPERE, Card.ADA, Card.HOPPER, new Card("Fake B200", 10, 0, 148, 227 << 10, 4L << 30));
    private static final DataType TYPE = DataType.BF16;

    /** Query heads, key heads, and the size of each, of models in use. */
    private static final int[][] HEADS = {
        {12, 12, 64},
        {64, 8, 64},
        {32, 32, 80},
        {32, 32, 96},
        {16, 8, 128},
        {32, 8, 128},
        {40, 4, 128},
        {8, 1, 256},
        {4, 4, 48}
    };

    /** Outputs and columns of GPT-2, of Llama 3.1 8B, of Qwen3 0.6B, and one that is smaller than a tile. */
    private static final int[][] PRODUCTS = {
        {2304, 768}, {768, 768}, {3072, 768}, {768, 3072}, {50_257, 768},
        {6144, 4096}, {4096, 4096}, {28_672, 4096}, {4096, 14_336}, {128_256, 4096},
        {4096, 1024}, {1024, 2048}, {6144, 1024}, {1024, 3072}, {40, 72}
    };

    private static final CodedFormat FOUR_BITS = new CodedFormat(DataType.I4_128);
    private static final int[] CODED_ROWS = {1, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 192, 256, 384, 512, 2048, 8192};
    private static final int[] MANY_ROWS = {512, 600, 768, 900, 1024, 1500, 2048, 3000, 4096, 8192, 16_384};

    @Test
    void kernelsAreChosenAsTheyWereMeasured() throws IOException {
        var lines = new ArrayList<String>();
        for (Card card : CARDS) {
            for (int[] heads : HEADS) {
                attention(card, heads, lines);
            }
        }
        for (int[] product : PRODUCTS) {
            products(product[0], product[1], lines);
        }
        Path now = Path.of("target", TABLE);
        Files.createDirectories(Path.of("target"));
        Files.write(now, lines);
        assertThat(lines).as("choices of kernels, now in %s", now).isEqualTo(measured());
    }

    private static List<String> measured() throws IOException {
        try (InputStream table = KernelChoiceTest.class.getResourceAsStream(TABLE)) {
            return table == null
                    ? List.of()
                    : new String(table.readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .toList();
        }
    }

    /** Adds a line for each range of numbers whose launches are the same. */
    private static void ranges(String what, int[] numbers, IntFunction<String> launches, List<String> lines) {
        lines.add(what);
        String before = launches.apply(numbers[0]);
        int begin = 0;
        for (int i = 1; i <= numbers.length; i++) {
            String now = i == numbers.length ? "" : launches.apply(numbers[i]);
            if (!now.equals(before)) {
                String range = begin == i - 1 ? "" : " to " + numbers[i - 1];
                lines.add("  " + numbers[begin] + range + ": " + before);
                begin = i;
            }
            before = now;
        }
    }

    private static int[] upTo(int last) {
        return IntStream.rangeClosed(1, last).toArray();
    }

    private static void attention(Card card, int[] heads, List<String> lines) {
        try (var step = new Attending(card, new HeadShape(heads[0], heads[1], heads[2], heads[2]))) {
            String what = card.name() + ", attention of " + heads[0] + "/" + heads[1] + " heads of " + heads[2];
            ranges(what + ", sequences of 1 row", upTo(640), count -> step.launches(count, 1, 0, 0f), lines);
            ranges(what + ", behind 900 positions", upTo(140), count -> step.launches(count, 1, 900, 0f), lines);
            ranges(what + ", sequences of 3 rows", upTo(200), count -> step.launches(count, 3, 0, 0f), lines);
            ranges(what + ", sequences of 300 rows", upTo(2), count -> step.launches(count, 300, 0, 0f), lines);
            ranges(
                    what + ", sequences of 300 rows, capped",
                    upTo(2),
                    count -> step.launches(count, 300, 0, 30f),
                    lines);
        }
    }

    /** The end of a layer's first half: what is appended, and attention to it. */
    private static final class Attending implements AutoCloseable {
        private static final StepLimits LIMITS = new StepLimits(640, 640, 640, 1024, 16);

        private final FakeDriver driver;
        private final HeadShape heads;
        private final Arena arena = Arena.ofConfined();
        private final Device device;
        private final KvCache cache;
        private final Rows projected;
        private final Rows attended;

        Attending(Card card, HeadShape heads) {
            driver = new FakeDriver(card);
            this.heads = heads;
            device = driver.open(TYPE);
            var group = new KvGroup("test", 1, heads.keyHeads(), heads.keySize(), heads.valueSize(), 0);
            cache = device.allocateKvCache(List.of(group), KvType.of(TYPE), 16, new int[] {100});
            projected = rows((heads.queryHeads() + 2 * heads.keyHeads()) * heads.keySize());
            attended = rows(heads.queryHeads() * heads.valueSize());
        }

        private Rows rows(int columns) {
            return Rows.of(device.allocate(TYPE, (long) LIMITS.maxRows() * columns), columns);
        }

        String launches(int sequences, int each, int context, float softCap) {
            var inputs = new StepInputs(LIMITS, 1);
            inputs.sequences = sequences;
            for (int s = 0; s <= sequences; s++) {
                inputs.rowStart[s] = s * each;
            }
            Arrays.fill(inputs.contextLength, 0, sequences, context);
            inputs.rows = sequences * each;
            launched(); // what came before
            int queries = heads.queryHeads() * heads.keySize();
            int keys = heads.keyHeads() * heads.keySize();
            var layer = new AttentionLayer(0, 0, heads, null, null, null, 1f, softCap, null);
            device.submit(
                    inputs,
                    (operations, _) -> operations.appendAndAttend(
                            projected.columns(0, queries),
                            projected.columns(queries, keys),
                            projected.columns(queries + keys, keys),
                            layer,
                            cache,
                            attended));
            return launched();
        }

        private String launched() {
            device.read(attended, 0, 1, arena.allocate(4L * attended.columns(), 4));
            return describe(driver);
        }

        @Override
        public void close() {
            device.close();
            arena.close();
        }
    }

    private static void products(int outputs, int columns, List<String> lines) {
        try (var device = new Multiplying(outputs, columns)) {
            String what = "Hopper, " + outputs + " x " + columns;
            int[] rows = IntStream.concat(IntStream.range(1, MANY_ROWS[0]), IntStream.of(MANY_ROWS))
                    .toArray();
            ranges(what + ", rows", rows, device::product, lines);
            ranges(what + ", rows that are gated", rows, device::gated, lines);
            ranges(what + ", rows that are normalised", upTo(6), device::normed, lines);
            ranges(what + ", rows that adapters add to and that are gated", upTo(66), device::adapted, lines);
        }
        if (columns % CodedFormat.COLUMNS == 0) {
            try (var device = Multiplying.inFp8(outputs, columns)) {
                String what = "Hopper, " + outputs + " x " + columns + " in FP8, rows";
                ranges(what, CODED_ROWS, device::product, lines);
                ranges(what + " that are gated", CODED_ROWS, device::gated, lines);
                ranges(what + " that are normalised", CODED_ROWS, device::normed, lines);
            }
        }
        try (var device = new Multiplying(outputs, columns, FOUR_BITS, false)) {
            ranges(
                    "Hopper, " + outputs + " x " + columns + " codes of 4 bits, rows",
                    CODED_ROWS,
                    device::product,
                    lines);
        }
    }

    /** Products with one packed weight on Hopper. */
    private static final class Multiplying implements AutoCloseable {
        private static final int MAX_ROWS = 16_384;
        private static final Addition ADDITION = new Addition(0, 0, 0, 16, 1);

        private final FakeDriver driver = new FakeDriver(Card.HOPPER.withBytes(64L << 30));
        private final Gpu device = new Gpu(driver, 0, true);
        private final Arena arena = Arena.ofConfined();
        private final LinearKernels products;
        private final CudaWeight weight;
        private final Rows input;
        private final Rows output;

        Multiplying(int outputs, int columns) {
            this(outputs, columns, null, false);
        }

        static Multiplying inFp8(int outputs, int columns) {
            return new Multiplying(outputs, columns, null, true);
        }

        Multiplying(int outputs, int columns, @Nullable CodedFormat format, boolean isFp8) {
            var launcher = new Launcher(device, arena);
            var kernels = new Kernels(device, FakeKernels::cubin);
            var rowKernels = new RowKernels(kernels, launcher, TYPE);
            var mma = new MmaLinear(kernels, launcher, TYPE);
            products = new LinearKernels(device, kernels, launcher, rowKernels, mma, null, TYPE);
            long packed = device.memory().allocate(1 << 20);
            TileProducts tiles = format == null ? null : new CodedLinear(kernels, format, TYPE);
            if (isFp8) {
                tiles = new Fp8Weight(new Fp8Linear(device, kernels, TYPE), packed, packed);
            }
            weight = new CudaWeight("test", 1, outputs, columns, packed, 0, List.of(), false, tiles, 0);
            input = rows(columns);
            output = rows((outputs + 7) / 8 * 8);
        }

        private Rows rows(int columns) {
            long elements = (long) MAX_ROWS * columns;
            return Rows.of(new CudaBuffer(TYPE, elements, device.memory().allocate(2 * elements)), columns);
        }

        String product(int rows) {
            products.linear(input, weight, Epilogue.PLAIN, output, rows);
            return launched();
        }

        String normed(int rows) {
            var ones = new CudaBuffer(
                    DataType.F32, weight.columns(), device.memory().allocate(1));
            var norm = new Norm(Norm.Kind.RMS, ones, 0f, null, 1e-5f);
            return products.normedLinear(input, norm, weight, Epilogue.PLAIN, output, rows)
                    ? launched()
                    : "no kernel of both";
        }

        String gated(int rows) {
            GatedLinear product = gates();
            if (!products.fusesGate(input, product, rows)) {
                return "no kernel of both";
            }
            products.gatedLinear(input, product, rows);
            return launched();
        }

        private GatedLinear gates() {
            int half = output.columns() / 2 / 8 * 8;
            Rows gates = output.columns(0, half);
            return new GatedLinear(
                    weight, Epilogue.PLAIN, output, gates, output.columns(half, half), Gate.of(Activation.SILU));
        }

        String adapted(int rows) {
            if (!products.fusesAdaptedGate(input, gates(), rows)) {
                return "no kernel of both";
            }
            products.adaptedGatedLinear(input, gates(), rows, ADDITION);
            return launched();
        }

        private String launched() {
            device.synchronize();
            return describe(driver);
        }

        @Override
        public void close() {
            device.close(new Cleanup());
            arena.close();
        }
    }

    /** What ran since the last call of this. */
    private static String describe(FakeDriver driver) {
        return String.join(
                "; ",
                driver.takeLaunches().stream()
                        .filter(launch -> !launch.kernel().name().startsWith("to_floats"))
                        .map(KernelChoiceTest::describe)
                        .toList());
    }

    private static String describe(FakeKernels.Launch launch) {
        FakeKernels.Grid grid = launch.grid();
        return launch.kernel().name() + " of " + grid.threads() + " threads, " + grid.sharedBytes() + " bytes"
                + (grid.cluster() == 1 ? "" : ", clusters of " + grid.cluster());
    }
}
