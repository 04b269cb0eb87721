package roselle.cpu.gemm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.cpu.CpuDevice;
import roselle.cpu.format.Formats;
import roselle.cpu.format.Unpacked;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.panel.BrainFloat;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.twin.ScalarGemm;
import roselle.cpu.vector.Lanes;
import roselle.quantization.Group;
import roselle.quantization.GroupScales;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** What products and weight formats must do at any vector width; runs in a process of its own per width. */
public final class GemmContract {
    static final List<DataType> FORMATS = List.of(
            DataType.F32,
            DataType.F16,
            DataType.BF16,
            DataType.F8_E4M3,
            DataType.F8_E5M2,
            DataType.Q4_0,
            DataType.Q4_1,
            DataType.Q5_0,
            DataType.Q5_1,
            DataType.Q8_0,
            DataType.Q2_K,
            DataType.Q3_K,
            DataType.Q4_K,
            DataType.Q5_K,
            DataType.Q6_K,
            DataType.IQ4_NL,
            DataType.IQ4_XS,
            DataType.MXFP4,
            DataType.IQ1_S,
            DataType.IQ1_M,
            DataType.IQ2_XXS,
            DataType.IQ2_XS,
            DataType.IQ2_S,
            DataType.IQ3_XXS,
            DataType.IQ3_S,
            DataType.TQ1_0,
            DataType.TQ2_0,
            DataType.NVFP4,
            DataType.Q1_0,
            DataType.Q2_0);

    /** Groups with scales in a second tensor: blocks, odd ones, rows, and all numbers together. */
    private static final List<Group> GROUPS =
            List.of(new Group(128, 128), new Group(3, 5), new Group(1, 1 << 20), new Group(1 << 20, 1 << 20));

    /** The Vector API alone. */
    static final CpuOptions VECTOR = CpuOptions.of(1).with(CpuPath.VECTOR);

    /** Outputs of the matrices whose rounding is judged: among more, one is far off by chance where activations are bytes. */
    private static final int MAX_JUDGED = 100;

    private static final int[] ROWS = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 65, 70};

    /** The product under test. */
    interface Kernel {
        void linear(CpuDevice device, Rows input, CpuWeight weight, Rows output, int rows);
    }

    private final Random random;
    private final CpuOptions options;
    private final Kernel kernel;
    private final Function<CpuOptions, CpuDevice> opening;

    GemmContract(long seed, CpuOptions options) {
        this(
                seed,
                options,
                (device, input, weight, output, rows) ->
                        device.operations().linear(input, weight, Epilogue.PLAIN, output, rows));
    }

    GemmContract(long seed, CpuOptions options, Kernel kernel) {
        this(seed, options, kernel, CpuDevice::new);
    }

    private GemmContract(long seed, CpuOptions options, Kernel kernel, Function<CpuOptions, CpuDevice> opening) {
        random = new Random(seed);
        this.options = options;
        this.kernel = kernel;
        this.opening = opening;
    }

    /** Of backends that are opened in another way than by their options. */
    static GemmContract of(long seed, CpuOptions options, Function<CpuOptions, CpuDevice> opening) {
        Kernel kernel = new GemmContract(seed, options).kernel;
        return new GemmContract(seed, options, kernel, opening);
    }

    /** Exits with 1 and a sentence per difference. */
    public static void main(String[] arguments) {
        List<String> faults = new GemmContract(20_25, VECTOR).faults();
        faults.forEach(System.out::println);
        System.out.println("lanes " + Lanes.COUNT + ", faults " + faults.size());
        System.exit(faults.isEmpty() ? 0 : 1);
    }

    List<String> faults() {
        var faults = new ArrayList<String>();
        for (DataType type : FORMATS) {
            decodesAsItsTwin(type, 512, faults);
            multipliesAsItsTwin(type, 512, 29, faults);
            if (!type.isQuantized()) {
                for (int columns : new int[] {1, 3, 15, 17, 100, 1030}) {
                    decodesAsItsTwin(type, columns, faults);
                    multipliesAsItsTwin(type, columns, 7, faults);
                }
            }
        }
        multipliesAsItsTwin(DataType.Q8_0, 2080, 100, faults);
        multipliesAsItsTwin(DataType.Q5_1, 1056, 6, faults);
        multipliesAsItsTwin(DataType.Q4_K, 2304, 53, faults);
        for (Group group : GROUPS) {
            multipliesWithScalesAsItsTwin(DataType.F8_E4M3, group, 1100, 29, faults);
            multipliesWithScalesAsItsTwin(DataType.BF16, group, 136, 7, faults);
        }
        multipliesAsItsTwin(DataType.Q6_K, 1280, 7, faults);
        decodesAsItsTwin(DataType.Q5_0, 1056, faults);
        decodesAsItsTwin(DataType.Q3_K, 1280, faults);
        return faults;
    }

    /** The same of float32 alone. */
    List<String> faultsOfFloats() {
        var faults = new ArrayList<String>();
        for (int columns : new int[] {1, 3, 17, 100, 512, 1030}) {
            multipliesAsItsTwin(DataType.F32, columns, 29, faults);
        }
        multipliesAsItsTwin(DataType.F32, 96, 300, faults);
        return faults;
    }

    /** The same of matrices with many outputs, in one format of each kind. */
    List<String> faultsOfMany(int outputs) {
        var faults = new ArrayList<String>();
        for (DataType type : List.of(DataType.F32, DataType.Q8_0, DataType.Q4_K)) {
            multipliesAsItsTwin(type, 256, outputs, faults);
        }
        return faults;
    }

    /** Any bits at all: infinities, NaN and subnormals among them. */
    private void decodesAsItsTwin(DataType type, int columns, List<String> faults) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment weights = arena.allocate(type.rowBytes(columns));
            for (int trial = 0; trial < 20; trial++) {
                fill(weights);
                float[] expected = new float[columns];
                Dequantizer.of(type).dequantize(weights, 0, expected, 0, columns);
                int step = Lanes.COUNT + 5;
                float[] panel = new float[columns / Lanes.COUNT * step + step];
                java.util.Arrays.fill(panel, Float.NaN);
                Formats.of(type).decode(weights, 0, columns, panel, 0, step, new Unpacked());
                for (int i = 0; i < Lanes.padded(columns); i++) {
                    float want = i < columns ? expected[i] : 0f;
                    float got = panel[i / Lanes.COUNT * step + i % Lanes.COUNT];
                    if (Float.floatToIntBits(want) != Float.floatToIntBits(got)) {
                        faults.add(type + " of " + columns + " decodes number " + i + " to " + got + ", not " + want);
                        return;
                    }
                }
            }
        }
    }

    private void multipliesAsItsTwin(DataType type, int columns, int outputs, List<String> faults) {
        multipliesAsItsTwin(type, StoredMatrix::of, columns, outputs, faults);
    }

    /** A matrix that begins within a group, as parts of matrices do. */
    private void multipliesWithScalesAsItsTwin(
            DataType type, Group group, int columns, int outputs, List<String> faults) {
        int skipped = 2;
        Shape grid = group.grid(Shape.of(outputs + skipped, columns));
        var numbers = new float[Math.toIntExact(grid.elements())];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = random.nextFloat() + 0.01f;
        }
        var scales = new Tensor("scales", DataType.F32, grid, MemorySegment.ofArray(numbers));
        multipliesAsItsTwin(
                type,
                codes -> new StoredMatrix.Scaled(codes, new GroupScales(group, scales, skipped)),
                columns,
                outputs,
                faults);
    }

    /** Bit for bit the scalar twin, near the float64 product, for all numbers of rows and threads. */
    private void multipliesAsItsTwin(
            DataType type, Function<Tensor, StoredMatrix> storing, int columns, int outputs, List<String> faults) {
        int before = faults.size();
        for (int threads = 1; threads <= 3 && faults.size() == before; threads += 2) {
            try (Arena arena = Arena.ofShared();
                    var device = opening.apply(new CpuOptions(threads, options.path(), options.precision()))) {
                MemorySegment weights = arena.allocate(type.rowBytes((long) columns * outputs));
                tame(type, weights, columns, outputs);
                var tensor = new Tensor("w", type, Shape.of(outputs, columns), weights);
                StoredMatrix matrix = storing.apply(tensor);
                var weight = (CpuWeight) device.load("w", 1, List.of(matrix));
                Rows input = Rows.of(device.allocate(DataType.F32, 70L * columns), columns);
                Rows output = Rows.of(device.allocate(DataType.F32, 70L * outputs), outputs);
                Rows twin = Rows.of(device.allocate(DataType.F32, 70L * outputs), outputs);
                for (long i = 0; i < 70L * columns; i++) {
                    CpuBuffer.number(CpuBuffer.of(input), i, (float) random.nextGaussian());
                }
                CpuBuffer.number(CpuBuffer.of(input), 2L * columns, Float.NaN);
                CpuBuffer.number(CpuBuffer.of(input), 4L * columns, Float.POSITIVE_INFINITY);
                ScalarGemm.scalar(input, weight, Epilogue.PLAIN, twin, 70, 0, outputs);
                if (outputs <= MAX_JUDGED) {
                    nearDouble(weight, matrix, input, twin, faults);
                }
                for (int rows : ROWS) {
                    CpuBuffer.of(output).fill((byte) 0xff);
                    kernel.linear(device, input, weight, output, rows);
                    same(type + " " + outputs + "x" + columns, rows, twin, output, faults);
                }
            }
        }
    }

    private static void same(String what, int rows, Rows twin, Rows output, List<String> faults) {
        for (int i = 0; i < rows * output.columns(); i++) {
            float want = CpuBuffer.number(CpuBuffer.of(twin), i);
            float got = CpuBuffer.number(CpuBuffer.of(output), i);
            if (Float.floatToIntBits(want) != Float.floatToIntBits(got)) {
                faults.add(what + ", " + rows + " rows: output " + i + " is " + got + ", the twin says " + want);
                return;
            }
        }
        int beyond = rows * output.columns();
        if (beyond < output.buffer().elements()
                && CpuBuffer.of(output).get(ValueLayout.JAVA_INT, 4L * beyond) != 0xffffffff) {
            faults.add(what + ", " + rows + " rows: wrote beyond the last row");
        }
    }

    private static void nearDouble(CpuWeight weight, StoredMatrix matrix, Rows input, Rows twin, List<String> faults) {
        DataType type = matrix.codes().type();
        int columns = input.columns();
        boolean isRounded = weight.isPacked() && weight.compute() == Compute.BF16;
        boolean isAllRounded = isRounded && (weight.isInTiles() || !type.isQuantized());
        boolean isOfBytes = weight.isPacked() && weight.compute() == Compute.INT8;
        // where tiles fuse what the format's definition rounds in between, a weight may round to its other neighbour
        double bearable = weight.isInTiles() ? 2e-5 : isOfBytes ? 4e-3 : 1e-6;
        float[] all = matrix.numbers();
        for (int r = 0; r < 2; r++) {
            for (int n = 0; n < twin.columns(); n++) {
                double sum = 0;
                double size = 0;
                for (int k = 0; k < columns; k++) {
                    float x = CpuBuffer.number(CpuBuffer.of(input), (long) r * columns + k);
                    float w = all[n * columns + k];
                    double product =
                            isAllRounded ? (double) rounded(w) * rounded(x) : (double) w * (isRounded ? rounded(x) : x);
                    sum += product;
                    size += Math.abs(product);
                }
                float got = CpuBuffer.number(CpuBuffer.of(twin), (long) r * twin.columns() + n);
                if (!(Math.abs(got - sum) <= size * bearable + Float.MIN_NORMAL)) {
                    faults.add(type + ": output " + n + " is " + got + ", in float64 " + sum);
                    return;
                }
            }
        }
    }

    private static float rounded(float number) {
        return BrainFloat.toFloat(BrainFloat.of(number));
    }

    /** Random bits, but every number finite and of moderate size. */
    private void tame(DataType type, MemorySegment weights, int columns, int outputs) {
        if (type == DataType.F32) {
            for (long i = 0; i < (long) columns * outputs; i++) {
                weights.setAtIndex(JAVA_FLOAT, i, (float) random.nextGaussian());
            }
            return;
        }
        long unit = type.blockBytes();
        float[] numbers = new float[type.blockElements()];
        byte[] bytes = new byte[type.blockBytes()];
        for (long p = 0; p < weights.byteSize(); p += unit) {
            do {
                random.nextBytes(bytes);
                MemorySegment.copy(bytes, 0, weights, ValueLayout.JAVA_BYTE, p, bytes.length);
                Dequantizer.of(type).dequantize(weights, p, numbers, 0, numbers.length);
            } while (!moderate(numbers));
        }
    }

    private static boolean moderate(float[] numbers) {
        for (float number : numbers) {
            if (!(Math.abs(number) < 1e6)) {
                return false;
            }
        }
        return true;
    }

    private void fill(MemorySegment segment) {
        byte[] bytes = new byte[Math.toIntExact(segment.byteSize())];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
    }
}
