package roselle.cpu.row;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Gate;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Rope;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cpu.CpuDevice;
import roselle.cpu.attention.AttentionTwinContract;
import roselle.cpu.format.ScalarFormats;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.memory.Step;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.twin.ScalarEmbedding;
import roselle.cpu.twin.ScalarGatedActivation;
import roselle.cpu.twin.ScalarLanes;
import roselle.cpu.twin.ScalarNormalize;
import roselle.cpu.twin.ScalarSums;
import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * What the operations on rows must do at any vector width: give the bits of their scalar twins, for sizes that miss the lanes,
 * for NaN and infinities, for one row as for many, and for any number of threads; runs in a process of its own per width.
 */
public final class RowsTwinContract {
    private static final RouteExperts.Exponentials SCALARS = new RouteExperts.Exponentials() {
        @Override
        public float softmaxWeights(float[] numbers, int count, float largest, float[] lanes) {
            return ScalarLanes.softmaxWeights(numbers, count, largest);
        }

        @Override
        public void sigmoid(float[] numbers, int count) {
            for (int i = 0; i < count; i++) {
                numbers[i] = VectorFunctions.sigmoid(numbers[i]);
            }
        }
    };

    private static final int[] SIZES = {1, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 130};
    private static final int MAX_ROWS = 9;
    private static final int STRIDE_BEYOND = 5;

    private final Random random;
    private final BiConsumer<Rows, Integer> tampering;
    private final List<String> faults = new ArrayList<>();

    RowsTwinContract(long seed) {
        this(seed, (_, _) -> {});
    }

    /** With something that happens to each output of so many rows before it is looked at. */
    RowsTwinContract(long seed, BiConsumer<Rows, Integer> tampering) {
        random = new Random(seed);
        this.tampering = tampering;
    }

    /** Exits with 1 and a sentence per difference. */
    public static void main(String[] arguments) {
        var all = new ArrayList<>(new RowsTwinContract(2_026).faults());
        all.addAll(new AttentionTwinContract(2_027).faults());
        all.forEach(System.out::println);
        System.out.println("lanes " + Lanes.COUNT + ", faults " + all.size());
        System.exit(all.isEmpty() ? 0 : 1);
    }

    List<String> faults() {
        for (int threads = 1; threads <= 3; threads += 2) {
            try (var device = new CpuDevice(CpuOptions.of(threads).with(CpuPath.VECTOR))) {
                for (int rows : new int[] {1, 2, 5, MAX_ROWS}) {
                    for (int size : SIZES) {
                        check(device, size, rows);
                    }
                }
            }
        }
        return faults;
    }

    private void check(CpuDevice device, int size, int rows) {
        norms(device, size, rows);
        gates(device, size, rows);
        sums(device, size, rows);
        tables(device, size, rows);
        logits(device, size, rows);
        routes(device, size, rows);
        heads(device, size, rows);
        latentHeads(device, size, rows);
    }

    private void norms(CpuDevice device, int size, int rows) {
        for (Norm.Kind kind : Norm.Kind.values()) {
            for (boolean hasBias : new boolean[] {false, true}) {
                Buffer bias = hasBias ? constants(device, size) : null;
                var norm = new Norm(kind, constants(device, size), hasBias ? 1f : 0f, bias, 1e-5f);
                Rows input = special(device, size, rows);
                Rows output = numbers(device, size);
                Rows twin = copy(device, output);
                ScalarNormalize.scalar(input, norm, twin, 0, rows);
                device.operations().norm(input, norm, output, rows);
                same(kind + " norm", rows, twin, output);
                ScalarNormalize.scalarAdd(input, norm, 0.5f, twin, 0, rows);
                device.operations().addNormed(input, norm, 0.5f, output, rows);
                same(kind + " added norm", rows, twin, output);
            }
        }
    }

    private void gates(CpuDevice device, int size, int rows) {
        for (Activation activation : Activation.values()) {
            for (Gate gate :
                    List.of(Gate.of(activation), new Gate(activation, 7f, 1f), new Gate(activation, 2f, 0.5f, 0f))) {
                Rows input = special(device, size, rows);
                Rows up = special(device, size, 0);
                Rows output = numbers(device, size);
                Rows twin = copy(device, output);
                ScalarGatedActivation.scalar(input, up, gate, twin, 0, rows);
                device.operations().gatedActivation(input, up, gate, output, rows);
                same("gate " + gate, rows, twin, output);
            }
        }
    }

    private void sums(CpuDevice device, int size, int rows) {
        Rows output = numbers(device, size);
        Rows twin = copy(device, output);
        Rows input = special(device, size, rows);
        Rows gate = special(device, 1, rows);
        ScalarSums.scalarGated(input, gate, 0.7f, twin, 0, rows);
        device.operations().addGated(input, gate, 0.7f, output, rows);
        same("gated sum", rows, twin, output);
        Routing routing = routing(device, 3);
        for (int i = 0; i < MAX_ROWS * 3; i++) {
            CpuBuffer.number(CpuBuffer.of(routing.weights()), i, random.nextFloat());
        }
        Rows spread = filled(device, size, 3 * MAX_ROWS);
        poison(spread, 4);
        ScalarSums.scalarExperts(spread, routing, 0.3f, twin, 0, rows);
        device.operations().combineExperts(spread, routing, 0.3f, true, output, rows);
        same("combined experts", rows, twin, output);
    }

    private void tables(CpuDevice device, int size, int rows) {
        MemorySegment data = CpuBuffer.of(constants(device, 12 * size));
        CpuBuffer.number(data, 3L * size, Float.NaN);
        var tensor = new Tensor("table", DataType.F32, Shape.of(12, size), data);
        var table = (CpuWeight) device.load("table", 1, List.of(StoredMatrix.of(tensor)));
        StepInputs inputs = step(rows);
        Rows output = numbers(device, size);
        Rows twin = copy(device, output);
        ScalarEmbedding.scalar(table, inputs.tokenIds, 2.5f, false, twin, new float[size], rows);
        device.submit(inputs, (operations, _) -> operations.embed(table, 2.5f, output));
        same("embedding", rows, twin, output);
        ScalarEmbedding.scalar(table, inputs.positions, 1f, true, twin, new float[size], rows);
        device.submit(inputs, (operations, _) -> operations.addPositions(table, output));
        same("positions", rows, twin, output);
    }

    private void logits(CpuDevice device, int size, int rows) {
        for (float softCap : new float[] {0f, 30f}) {
            Rows output = special(device, size, rows);
            Rows twin = copy(device, output);
            ScalarSums.scalarLogits(twin, 3f, softCap, 0, rows);
            device.operations().scaleLogits(output, 3f, softCap, rows);
            same("logits capped at " + softCap, rows, twin, output);
        }
    }

    private void routes(CpuDevice device, int experts, int rows) {
        for (Router.Scoring scoring : Router.Scoring.values()) {
            for (int groups : experts % 4 == 0 ? new int[] {1, 4} : new int[] {1}) {
                int chosen = Math.min(experts, groups == 1 ? 5 : experts / 4 * 2);
                Buffer correction = groups == 1 ? null : constants(device, experts);
                var router = new Router(
                        scoring, experts, chosen, groups == 1, groups, Math.min(groups, 2), correction, 1.5f);
                Rows input = special(device, experts, rows);
                Routing twin = routing(device, chosen);
                Routing routing = routing(device, chosen);
                new RouteExperts(SCALARS).rows(input, router, twin, new int[rows], 0, rows);
                device.operations().routeExperts(input, router, routing, rows);
                String name = scoring + " routing in " + groups + " groups";
                same(name, rows, Rows.of(twin.weights(), chosen), Rows.of(routing.weights(), chosen));
                same(name, rows, Rows.of(twin.experts(), chosen), Rows.of(routing.experts(), chosen));
            }
        }
    }

    /** Heads are normalised and rotated as the twins of norm and rotation do it one by one. */
    private void heads(CpuDevice device, int size, int rows) {
        int pairs = size / 2;
        for (boolean interleaved : new boolean[] {false, true}) {
            for (KvType type : KvType.PLAIN) {
                Rope rope = pairs == 0 ? null : new Rope(constants(device, pairs), 1.25f, interleaved);
                var norm = new Norm(Norm.Kind.RMS, constants(device, size), 0f, null, 1e-6f);
                var heads = new HeadShape(4, 2, size, size);
                var layer = new AttentionLayer(0, 0, heads, rope, norm, norm, 1f, 0f, null);
                var cache = cache(device, new KvGroup("full", 1, 2, size, size, 0), type);
                Rows query = special(device, 4 * size, rows);
                Rows key = special(device, 2 * size, rows);
                Rows value = special(device, 2 * size, rows);
                Rows queryTwin = twinHeads(device, query, 4, norm, rope, rows);
                Rows keyTwin = twinHeads(device, key, 2, norm, rope, rows);
                device.submit(
                        step(rows), (operations, _) -> operations.ropeAndAppendKv(query, key, value, layer, cache));
                same("queries", rows, queryTwin, query);
                same("keys", rows, keyTwin, key);
                stored(cache, type.plain(), rows, keyTwin, 2, size, true);
                stored(cache, type.plain(), rows, value, 2, size, false);
            }
        }
    }

    private Rows twinHeads(CpuDevice device, Rows rows, int heads, Norm norm, @Nullable Rope rope, int count) {
        Rows twin = copy(device, rows);
        StepInputs inputs = step(count);
        int size = rows.columns() / heads;
        for (int r = 0; r < count; r++) {
            for (int h = 0; h < heads; h++) {
                long at = CpuBuffer.row(twin, r) + (long) h * size;
                ScalarNormalize.part(CpuBuffer.of(twin), at, norm, 0, CpuBuffer.of(twin), at, size);
                RopeAndAppend.rotate(CpuBuffer.of(twin), at, rope, inputs.positions[r], new Angles());
            }
        }
        return twin;
    }

    private void stored(CpuKvCache cache, DataType type, int rows, Rows numbers, int heads, int size, boolean isKey) {
        for (int r = 0; r < rows; r++) {
            for (int h = 0; h < heads; h++) {
                long at = isKey ? cache.keyAt(0, 0, r / 4, h, r % 4) : cache.valueAt(0, 0, r / 4, h, r % 4);
                for (int i = 0; i < size; i++) {
                    float number =
                            CpuBuffer.number(CpuBuffer.of(numbers), CpuBuffer.row(numbers, r) + (long) h * size + i);
                    float want = rounded(type, number);
                    float got = ScalarFormats.load(type, cache.segment(0), at + (long) i * type.blockBytes());
                    if (Float.floatToIntBits(want) != Float.floatToIntBits(got)) {
                        faults.add("number " + i + " of head " + h + " of row " + r + " is cached as " + got + " in "
                                + type.label() + ", not " + want);
                        return;
                    }
                }
            }
        }
    }

    private static float rounded(DataType type, float number) {
        try (var arena = java.lang.foreign.Arena.ofConfined()) {
            MemorySegment one = arena.allocate(4);
            ScalarFormats.store(type, one, 0, number);
            return ScalarFormats.load(type, one, 0);
        }
    }

    /** Latent rows are independent: alone or split over threads they are the same. */
    private void latentHeads(CpuDevice device, int size, int rows) {
        int turned = 4;
        var rope = new Rope(constants(device, turned / 2), 1f, true);
        var heads = new HeadShape(3, 1, size + turned, size);
        var layer = new AttentionLayer(0, 0, heads, rope, null, null, 1f, 0f, null);
        var cache = cache(device, new KvGroup("latent", 1, 1, size + turned, 0, 0), KvType.F32);
        Rows query = special(device, 3 * (size + turned), rows);
        Rows latent = special(device, size + turned, rows);
        Rows absorbed = special(device, 3 * (size + turned), rows);
        Rows latentTwin = copy(device, latent);
        Rows absorbedTwin = copy(device, absorbed);
        var current = new Step(step(rows));
        RopeAndAppend.latentRows(current, query, latentTwin, absorbedTwin, layer, cache, new Scratch(), 0, rows);
        device.submit(
                step(rows), (operations, _) -> operations.ropeAndAppendLatent(query, latent, absorbed, layer, cache));
        same("latent keys", rows, latentTwin, latent);
        same("latent queries", rows, absorbedTwin, absorbed);
    }

    // ---- numbers ----

    private static CpuKvCache cache(CpuDevice device, KvGroup group, KvType type) {
        return (CpuKvCache) device.allocateKvCache(List.of(group), type, 4, new int[] {4});
    }

    /** One sequence of so many rows from position 0, on pages 0, 1, 2. */
    private StepInputs step(int rows) {
        var inputs = new StepInputs(new StepLimits(MAX_ROWS, 1, 1, 16, 4), 1);
        inputs.sequences = 1;
        inputs.rows = rows;
        inputs.rowStart[1] = rows;
        for (int r = 0; r < rows; r++) {
            inputs.tokenIds[r] = (r * 5 + 3) % 12;
            inputs.positions[r] = r;
        }
        for (int page = 0; page < 4; page++) {
            inputs.pageTable[0][page] = page;
        }
        return inputs;
    }

    private static Routing routing(CpuDevice device, int chosen) {
        long choices = (long) MAX_ROWS * chosen;
        return new Routing(device.allocate(DataType.I32, choices), device.allocate(DataType.F32, choices), chosen);
    }

    private Buffer constants(CpuDevice device, int count) {
        var numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = (float) random.nextGaussian();
        }
        return device.constants(numbers);
    }

    private Rows numbers(CpuDevice device, int columns) {
        return filled(device, columns, MAX_ROWS);
    }

    /** Rows within wider ones. */
    private Rows filled(CpuDevice device, int columns, int rows) {
        int stride = columns + STRIDE_BEYOND;
        Rows wide = Rows.of(constants(device, rows * stride), stride);
        return wide.columns(2, columns);
    }

    /** Random numbers, with a NaN in the second row, an infinity in the third, and a row of equal numbers. */
    private Rows special(CpuDevice device, int columns, int rows) {
        Rows numbers = numbers(device, columns);
        if (rows > 1) {
            poison(numbers, 1);
        }
        if (rows > 2) {
            set(numbers, 2, columns / 2, Float.POSITIVE_INFINITY);
        }
        for (int i = 0; i < columns && rows > 3; i++) {
            set(numbers, 3, i, -2f);
        }
        return numbers;
    }

    private static void poison(Rows rows, int row) {
        set(rows, row, rows.columns() - 1, Float.NaN);
    }

    private static void set(Rows rows, int row, int column, float number) {
        CpuBuffer.number(CpuBuffer.of(rows), CpuBuffer.row(rows, row) + column, number);
    }

    private static Rows copy(CpuDevice device, Rows rows) {
        Buffer copy = device.allocate(DataType.F32, rows.buffer().elements());
        CpuBuffer.of(copy).copyFrom(CpuBuffer.of(rows));
        return new Rows(copy, rows.offset(), rows.columns(), rows.stride());
    }

    /** Compares whole buffers: rows beyond the last one and columns beside the view must stay as they are. */
    private void same(String what, int rows, Rows twin, Rows output) {
        tampering.accept(output, rows);
        for (long i = 0; i < twin.buffer().elements(); i++) {
            int want = CpuBuffer.integer(CpuBuffer.of(twin), i);
            int got = CpuBuffer.integer(CpuBuffer.of(output), i);
            boolean areNan = Float.isNaN(Float.intBitsToFloat(want)) && Float.isNaN(Float.intBitsToFloat(got));
            if (want != got && !areNan) {
                faults.add(what + " of " + rows + " rows of " + output.columns() + ": number " + i + " is "
                        + Float.intBitsToFloat(got) + ", the twin says " + Float.intBitsToFloat(want));
                return;
            }
        }
    }
}
