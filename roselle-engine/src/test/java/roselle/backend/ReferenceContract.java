package roselle.backend;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.backend.operation.Rope;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.step.StepInputs;
import roselle.quantization.Group;
import roselle.quantization.GroupScales;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Quantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;
import roselle.testing.RandomLlama;

/**
 * Each operation, with weights of each type, on a device and on the {@link ReferenceDevice}: the same bytes of weights and the same
 * rows go in, and nearly the same numbers come out.
 *
 * <p>Rows are rounded to bfloat16 first, which every type of rows holds, so that both devices are given the same.
 */
public abstract class ReferenceContract extends AdapterContract {
    private static final int OUTPUTS = 48;
    private static final int HEADS = 3;
    private static final int EXPERTS = 8;
    private static final int CHOSEN = 3;
    private static final int TOKENS = 11;
    private static final int TABLE = 40;

    /** Products with other weights than float32 may round their other factor, to bytes at least. */
    private static final double PRODUCT_TOLERANCE = 2e-2;

    private static final Group SCALED = new Group(16, 128);

    /** Some sizes of a step: for one row, a few and many there may be a kernel each. */
    private static final List<Integer> ROWS = List.of(1, 5, 40);

    /** Operations of steps whose sizes are {@link #PROMPTS}. */
    private static final List<String> OF_PROMPTS = List.of(
            "compress",
            "ropeAndAppendKv",
            "attention",
            "appendAndAttend",
            "ropeAndAppendLatent",
            "choosePositions",
            "convolve",
            "deltaRule",
            "deltaNet",
            "selectiveScan");

    /** What the reference gives, by operation and type: the same for every device, so that it is computed for the first alone. */
    private static final Map<List<Object>, float[]> EXPECTED = new HashMap<>();

    private final Map<Integer, StoredMatrix> matrices = new HashMap<>(); // of the type in question, by rows

    /** Every operation by name, with every type of weights that it may have. */
    static List<Arguments> operationsAndTypes() {
        return Arrays.stream(Operations.class.getDeclaredMethods())
                .sorted(Comparator.comparing(Method::getName))
                .flatMap(method -> types(method).map(type -> Arguments.of(method.getName(), type)))
                .toList();
    }

    private static Stream<DataType> types(Method method) {
        boolean hasWeight = Arrays.stream(method.getParameterTypes())
                .anyMatch(List.of(Weight.class, GatedLinear.class, ExpertLinear.class)::contains);
        return hasWeight
                ? Arrays.stream(DataType.values()).filter(ReferenceContract::isOfWeights)
                : Stream.of(DataType.F32);
    }

    private static boolean isOfWeights(DataType type) {
        return type.isQuantized() || (type.isFloating() && type != DataType.F64);
    }

    @ParameterizedTest
    @MethodSource("operationsAndTypes")
    void givesWhatTheReferenceGives(String operation, DataType type) {
        assumeTrue(reads(type), () -> "refused: weights of " + type.label());
        assumeTrue(runs(operation), () -> "refused: " + operation);
        float[] own = outcome(operation, type);
        float[] expected =
                EXPECTED.computeIfAbsent(List.of(operation, type), _ -> ofReference(() -> outcome(operation, type)));
        assertNear(own, expected, type == DataType.F32 ? tolerance() : Math.max(tolerance(), PRODUCT_TOLERANCE));
    }

    @Test
    void latentQueriesGrowWithTheirPositions() {
        var traits = new AttentionLayer.Traits(false, GROWING, null, null, null);
        givesWhatTheReferenceGives(() -> latentAttended(traits));
    }

    /** Whether the device takes weights of a type; of others another test sees that it refuses them. */
    protected boolean reads(DataType type) {
        return true;
    }

    /** What an operation leaves on {@link #device}, always from the same numbers. */
    private float[] outcome(String operation, DataType type) {
        random.setSeed(SEED);
        var left = new ArrayList<float[]>();
        for (int rows : OF_PROMPTS.contains(operation) ? List.of(0) : ROWS) {
            switch (operation) {
                case "embed" -> left.add(embedded(type, rows));
                case "addPositions" -> left.add(placed(type, rows));
                case "addTypes" -> left.add(typed(type, rows));
                case "norm" -> left.add(normed(Norm.Kind.RMS, rows));
                case "normHeads" -> left.add(headsNormed(rows));
                case "addNormed" -> left.add(normAdded(Norm.Kind.LAYER, rows));
                case "linear" -> left.add(multiplied(type, rows));
                case "logits" -> left.add(logits(type, rows));
                case "adapt" -> left.add(adapted(weight(type, 1, OUTPUTS), rows));
                case "adaptTable" -> left.add(tablesAdapted(device.loadTable("table", stored(type, TABLE)), rows));
                case "adaptLogits" -> left.add(logitsAdapted(weight(type, 1, OUTPUTS), rows));
                case "adaptExperts" -> left.add(expertsAdapted(weight(type, EXPERTS, OUTPUTS), rows));
                case "normedLinear" -> left.add(normedAndMultiplied(type, rows));
                case "headLinear" -> left.add(multipliedByHead(type, rows));
                case "gatedActivation" -> left.add(gated(rows));
                case "gateNormed" -> left.add(partsGated(rows));
                case "gatedLinear" -> {
                    left.add(multipliedAndGated(type, rows, false));
                    left.add(multipliedAndGated(type, rows, true));
                }
                case "adaptedGatedLinear" -> left.add(adaptedAndGated(weight(type, 1, 2 * OUTPUTS), rows));
                case "routeExperts" -> {
                    Arrays.stream(Router.Scoring.values())
                            .forEach(scoring -> left.add(routed(scoring, DataType.F32, rows)));
                    left.add(routedByTokens(rows));
                    left.add(routedToShared(false, rows));
                    left.add(routedToShared(true, rows));
                }
                case "groupedLinear" -> left.add(routed(Router.Scoring.SOFTMAX, type, rows));
                case "combineExperts" -> left.add(routed(Router.Scoring.SIGMOID, DataType.F32, rows));
                case "feedExperts" -> left.add(fed(type, rows));
                case "addGated" -> left.add(gateAdded(rows));
                case "selectOutputs" -> left.add(selected(rows));
                case "scaleLogits" -> left.add(scaled(rows));
                case "ropeAndAppendKv", "attention" -> left.add(attended(operation, KvType.F32));
                case "appendAndAttend" -> left.add(attended(operation, KvType.F16));
                case "ropeAndAppendLatent" -> left.add(latentAttended(AttentionLayer.Traits.NONE));
                case "choosePositions" -> {
                    left.add(attendedToChosen());
                    left.add(attendedToPools());
                }
                case "compress" -> left.add(attendedToCompressed());
                case "connect" -> left.add(connected(rows));
                case "sparsify" -> left.add(sparsified(rows));
                case "xielu" -> left.add(trained(rows));
                case "mix" -> left.add(mixed(rows));
                case "addAsLongAs" -> left.add(addedAsLong(rows));
                case "convolve" -> left.add(convolved());
                case "deltaRule" -> left.add(remembered());
                case "deltaNet" -> left.add(netted());
                case "selectiveScan" -> left.add(scanned());
                default -> throw new AssertionError(operation + " is compared with nothing: add it here");
            }
        }
        return joined(left);
    }

    // ---- what goes in ----

    private StoredMatrix stored(DataType type, int rows) {
        return matrices.computeIfAbsent(rows, _ -> made(type, Shape.of(rows, COLUMNS), new Random(SEED + rows)));
    }

    private StoredMatrix made(DataType type, Shape shape, Random random) {
        if (type == DataType.F8_E4M3_128) { // what codes and scales of two tensors become
            var codes = new Tensor("codes", DataType.F8_E4M3, shape, blocks(random, DataType.F8_E4M3, shape));
            Shape grid = SCALED.grid(shape);
            var scales = new float[(int) grid.elements()];
            for (int i = 0; i < scales.length; i++) {
                scales[i] = 0.5f + random.nextFloat();
            }
            return new StoredMatrix.Scaled(
                    codes, new GroupScales(SCALED, new Tensor("scales", DataType.F32, grid, segment(scales)), 0));
        }
        if (type.label().startsWith("i4_") || type.label().startsWith("i8_")) { // so do whole numbers
            return wholeNumbers(type, shape, random);
        }
        if (type.isQuantized() || type.blockBytes() == 1) {
            return StoredMatrix.of(new Tensor("weight", type, shape, blocks(random, type, shape)));
        }
        var numbers = new float[(int) shape.elements()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (float) random.nextGaussian();
        }
        var plain = new Tensor("weight", DataType.F32, shape, segment(numbers));
        MemorySegment data = type == DataType.F32
                ? plain.data()
                : inArena(Quantizer.convert(plain, type).data());
        return StoredMatrix.of(new Tensor("weight", type, shape, data));
    }

    private StoredMatrix wholeNumbers(DataType type, Shape shape, Random random) {
        int bits = type.packing().bits();
        int lowest = bits == 4 ? -11 : -128; // with a zero of 11, or none
        var codes = arena.allocate(shape.elements());
        for (long i = 0; i < shape.elements(); i++) {
            codes.set(ValueLayout.JAVA_BYTE, i, (byte) (lowest + random.nextInt(1 << bits)));
        }
        var group = new Group(1, type.blockElements());
        Shape grid = group.grid(shape);
        var scales = new float[(int) grid.elements()];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = (0.5f + random.nextFloat()) / (1 << bits);
        }
        return new StoredMatrix.Scaled(
                new Tensor("codes", DataType.I8, shape, codes),
                new GroupScales(group, new Tensor("scales", DataType.F32, grid, segment(scales)), 0),
                bits);
    }

    private MemorySegment blocks(Random random, DataType type, Shape shape) {
        return inArena(MemorySegment.ofArray(RandomLlama.blocks(random, type, shape.elements())));
    }

    private MemorySegment inArena(MemorySegment bytes) {
        return arena.allocate(bytes.byteSize(), 64).copyFrom(bytes);
    }

    private Weight weight(DataType type, int matrices, int rows) {
        return device.load("weight", matrices, List.of(stored(type, matrices * rows)));
    }

    private Norm norm(Norm.Kind kind, int count) {
        Buffer bias = kind == Norm.Kind.LAYER ? device.constants(random(count)) : null;
        return new Norm(kind, device.constants(random(count)), 0.5f, bias, 1e-5f);
    }

    private Epilogue epilogue(int outputs) {
        return new Epilogue(device.constants(random(outputs)), Activation.GELU_TANH, 0.5f, true);
    }

    // ---- operations ----

    private float[] embedded(DataType type, int rows) {
        StepInputs inputs = step(LIMITS, 0, new int[1], new int[] {rows});
        Arrays.setAll(inputs.tokenIds, row -> row * 7 % TABLE);
        Weight table = device.loadTable("table", stored(type, TABLE));
        Rows output = poisoned(rows, COLUMNS);
        begin(inputs);
        operations.embed(table, 1.5f, output);
        return read(output, rows);
    }

    private float[] placed(DataType type, int rows) {
        Weight table = device.loadTable("positions", stored(type, TABLE));
        Rows output = some(rows, COLUMNS);
        begin(step(LIMITS, 0, new int[1], new int[] {rows}));
        operations.addPositions(table, output);
        return read(output, rows);
    }

    private float[] typed(DataType type, int rows) {
        Weight table = device.loadTable("types", stored(type, TABLE));
        Rows output = some(rows, COLUMNS);
        StepInputs inputs = step(LIMITS, 0, new int[1], new int[] {rows});
        Arrays.setAll(inputs.types, row -> row * 5 % TABLE);
        begin(inputs);
        operations.addTypes(table, output);
        return read(output, rows);
    }

    private float[] normed(Norm.Kind kind, int rows) {
        Rows output = poisoned(rows, COLUMNS);
        operations.norm(some(rows, COLUMNS), norm(kind, COLUMNS), output, rows);
        return read(output, rows);
    }

    private float[] headsNormed(int rows) {
        Rows all = someGapless(rows, 4 * COLUMNS);
        Rows output = all.columns(2 * COLUMNS, 2 * COLUMNS);
        operations.normHeads(all.columns(0, 2 * COLUMNS), norm(Norm.Kind.RMS, COLUMNS / 2), COLUMNS / 2, output, rows);
        return readGapless(output, rows);
    }

    private float[] normAdded(Norm.Kind kind, int rows) {
        Rows output = some(rows, COLUMNS);
        operations.addNormed(some(rows, COLUMNS), norm(kind, COLUMNS), 0.7f, output, rows);
        return read(output, rows);
    }

    private float[] multiplied(DataType type, int rows) {
        Weight weight = weight(type, 1, OUTPUTS);
        Rows plain = poisoned(rows, OUTPUTS);
        operations.linear(some(rows, COLUMNS), weight, Epilogue.PLAIN, plain, rows);
        Rows ended = some(rows, OUTPUTS);
        operations.linear(some(rows, COLUMNS), weight, epilogue(OUTPUTS), ended, rows);
        return joined(List.of(read(plain, rows), read(ended, rows)));
    }

    private float[] logits(DataType type, int rows) {
        begin(step(LIMITS, 0, new int[1], new int[] {rows})); // in which all are wanted
        Rows output = poisoned(rows, OUTPUTS);
        operations.logits(some(rows, COLUMNS), weight(type, 1, OUTPUTS), Epilogue.PLAIN, output, rows);
        return read(output, rows);
    }

    private float[] normedAndMultiplied(DataType type, int rows) {
        Rows output = someGapless(rows, OUTPUTS);
        Rows place = gapless(new float[rows * COLUMNS], COLUMNS);
        Weight weight = weight(type, 1, OUTPUTS);
        operations.normedLinear(
                someGapless(rows, COLUMNS),
                norm(Norm.Kind.RMS, COLUMNS),
                place,
                weight,
                epilogue(OUTPUTS),
                output,
                rows);
        return readGapless(output, rows);
    }

    private float[] multipliedByHead(DataType type, int rows) {
        Rows output = some(rows, HEADS * (OUTPUTS + 8)); // with what lies between the heads
        operations.headLinear(some(rows, HEADS * COLUMNS), weight(type, HEADS, OUTPUTS), output, rows);
        return read(output, rows);
    }

    private float[] gated(int rows) {
        Rows output = poisoned(rows, COLUMNS);
        var gate = new Gate(Activation.SILU, 1.5f, 1f);
        operations.gatedActivation(some(rows, COLUMNS), some(rows, COLUMNS), gate, output, rows);
        return read(output, rows);
    }

    private float[] partsGated(int rows) {
        Rows all = someGapless(rows, COLUMNS);
        Rows parts = Rows.of(all.buffer(), COLUMNS / 4);
        var gate = Gate.of(Activation.SILU);
        operations.gateNormed(some(rows, COLUMNS), parts, norm(Norm.Kind.RMS, COLUMNS / 4), gate, all, rows);
        return readGapless(all, rows);
    }

    private float[] multipliedAndGated(DataType type, int rows, boolean norms) {
        Rows both = gapless(new float[rows * 2 * OUTPUTS], 2 * OUTPUTS);
        Rows place = gapless(new float[rows * COLUMNS], COLUMNS);
        var product = new GatedLinear(
                weight(type, 1, 2 * OUTPUTS),
                Epilogue.PLAIN,
                both,
                both.columns(0, OUTPUTS),
                both.columns(OUTPUTS, OUTPUTS),
                Gate.of(Activation.SILU));
        @Nullable Norm norm = norms ? norm(Norm.Kind.RMS, COLUMNS) : null;
        operations.gatedLinear(someGapless(rows, COLUMNS), norm, place, product, rows);
        return readGapless(product.gates(), rows);
    }

    /** The choice of experts as it shows in what they make of rows, apart and together. */
    private float[] routed(Router.Scoring scoring, DataType type, int rows) {
        Routing routing = routing(rows);
        boolean groups = scoring == Router.Scoring.SIGMOID;
        Buffer correction = groups ? device.constants(random(EXPERTS)) : null;
        Buffer scales = groups ? null : device.constants(random(EXPERTS));
        var router = new Router(
                scoring, EXPERTS, CHOSEN, groups, groups ? 4 : 1, groups ? 2 : 1, correction, 1.5f, scales, null, 0.4f);
        operations.routeExperts(some(rows, EXPERTS), router, routing, rows);
        Rows products = poisoned(rows * CHOSEN, OUTPUTS);
        var linear = new ExpertLinear(
                weight(type, EXPERTS, OUTPUTS), Epilogue.bias(device.constants(random(EXPERTS * OUTPUTS))), false);
        operations.groupedLinear(some(rows, COLUMNS), linear, routing, products, rows);
        Rows sum = some(rows, OUTPUTS);
        operations.combineExperts(products, routing, 0.5f, true, sum, rows);
        Rows alone = poisoned(rows, OUTPUTS);
        operations.combineExperts(products, routing, 0.5f, false, alone, rows);
        return joined(List.of(read(products, rows * CHOSEN), read(sum, rows), read(alone, rows)));
    }

    /** What chosen experts with gates add to rows. */
    private float[] fed(DataType type, int rows) {
        int choices = 2 * rows;
        var routing = new Routing(device.allocate(DataType.I32, choices), device.allocate(DataType.F32, choices), 2);
        var router = new Router(Router.Scoring.SOFTMAX, EXPERTS, 2, true, 1, 1, null, 1f);
        operations.routeExperts(some(rows, EXPERTS), router, routing, rows);
        Rows both = gapless(new float[choices * 2 * COLUMNS], 2 * COLUMNS);
        var experts = new ExpertProducts(
                new ExpertLinear(weight(type, EXPERTS, 2 * COLUMNS), Epilogue.PLAIN, false),
                both,
                both.columns(0, COLUMNS),
                both.columns(COLUMNS, COLUMNS),
                Gate.of(Activation.SILU),
                new ExpertLinear(weight(type, EXPERTS, OUTPUTS), Epilogue.PLAIN, true),
                gapless(new float[choices * OUTPUTS], OUTPUTS));
        Rows sum = someGapless(rows, OUTPUTS);
        var into = new ExpertSum(sum, 0.5f, true, someGapless(rows, OUTPUTS), someGapless(rows, 1));
        operations.feedExperts(someGapless(rows, COLUMNS), experts, routing, into, rows);
        return readGapless(sum, rows);
    }

    /** Experts that the table of a router has for a row's token, weighed by scores. */
    private float[] routedByTokens(int rows) {
        var table = new float[TOKENS * CHOSEN];
        for (int i = 0; i < table.length; i++) {
            table[i] = (i % CHOSEN * 3 + i / CHOSEN) % EXPERTS;
        }
        StepInputs inputs = step(LIMITS, 0, new int[1], new int[] {rows});
        Arrays.setAll(inputs.tokenIds, row -> row * 7 % TOKENS);
        begin(inputs);
        var router = new Router(
                Router.Scoring.ROOT_OF_SOFTPLUS,
                EXPERTS,
                CHOSEN,
                true,
                1,
                1,
                null,
                1.5f,
                null,
                device.constants(table));
        Routing routing = routing(rows);
        operations.routeExperts(some(rows, EXPERTS), router, routing, rows);
        Rows sum = some(rows, OUTPUTS);
        operations.combineExperts(some(rows * CHOSEN, OUTPUTS), routing, 0.5f, true, sum, rows);
        return read(sum, rows);
    }

    /** Experts of which each row has the last one besides those that it chooses. */
    private float[] routedToShared(boolean gated, int rows) {
        Routing routing = routing(rows);
        int chosen = CHOSEN - 1;
        var router = new Router(Router.Scoring.SIGMOID, EXPERTS - 1, chosen, gated, 1, 1, null, 1.5f);
        Router.Shared shared = new Router.Shared(0.7f, gated);
        operations.routeExperts(some(rows, EXPERTS), router.with(shared), routing, rows);
        Rows sum = some(rows, OUTPUTS);
        operations.combineExperts(some(rows * CHOSEN, OUTPUTS), routing, 0.5f, true, sum, rows);
        return read(sum, rows);
    }

    private Routing routing(int rows) {
        return new Routing(
                device.allocate(DataType.I32, (long) rows * CHOSEN),
                device.allocate(DataType.F32, (long) rows * CHOSEN),
                CHOSEN);
    }

    private float[] gateAdded(int rows) {
        Rows output = some(rows, COLUMNS);
        operations.addGated(some(rows, COLUMNS), some(rows, 1), 0.5f, output, rows);
        return read(output, rows);
    }

    private float[] selected(int rows) {
        StepInputs inputs = step(LIMITS, 0, new int[1], new int[] {rows});
        inputs.outputs = (rows + 1) / 2;
        Arrays.setAll(inputs.outputRow, output -> 2 * output);
        Rows input = some(rows, COLUMNS);
        Rows output = poisoned(inputs.outputs, COLUMNS);
        begin(inputs);
        operations.selectOutputs(input, output);
        return read(output, inputs.outputs);
    }

    private float[] scaled(int rows) {
        Rows logits = some(rows, COLUMNS);
        operations.scaleLogits(logits, 3f, 5f, rows);
        return read(logits, rows);
    }

    // ---- attention ----

    /** Prompts of all sequences in one step, whose pages lie in no order, then a row of each. */
    private float[] attended(String operation, KvType kvType) {
        var heads = new HeadShape(4, 2, 64, 64);
        var group = new KvGroup("test", 1, heads.keyHeads(), heads.keySize(), heads.valueSize(), 40);
        KvCache cache = device.allocateKvCache(List.of(group), kvType, PAGE, new int[] {PAGES});
        var rope = new Rope(device.constants(frequencies(heads.keySize() / 2)), 1.1f, false);
        Norm norm = norm(Norm.Kind.RMS, heads.keySize());
        Buffer sinks = device.constants(random(heads.queryHeads()));
        var layer = new AttentionLayer(0, 0, heads, rope, norm, norm, 0.05f, 20f, sinks);
        int queries = heads.queryHeads() * heads.keySize();
        int keys = heads.keyHeads() * heads.keySize();
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes);
            Rows all = someGapless(rows, queries + 2 * keys);
            Rows query = all.columns(0, queries);
            Rows key = all.columns(queries, keys);
            Rows value = all.columns(queries + keys, keys);
            Rows output = gapless(new float[rows * queries], queries);
            if (decodes && operation.equals("appendAndAttend")) {
                operations.appendAndAttend(query, key, value, layer, cache, output);
            } else {
                operations.ropeAndAppendKv(query, key, value, layer, cache);
                left.add(readGapless(query, rows));
                left.add(readGapless(key, rows));
                operations.attention(query, layer, cache, output);
            }
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }

    /** The same for latent rows. */
    private float[] latentAttended(AttentionLayer.Traits traits) {
        var heads = new HeadShape(16, 1, 576, 512);
        int tail = heads.keySize() - heads.valueSize();
        var group = new KvGroup("latent", 1, 1, heads.keySize(), 0, 0);
        KvCache cache =
                device.allocateKvCache(List.of(group), KvType.of(device.activationType()), PAGE, new int[] {PAGES});
        var rope = new Rope(device.constants(frequencies(tail / 2)), 1f, true);
        var layer = new AttentionLayer(0, 0, heads, rope, null, null, 0.05f, 0f, null, false, true, traits);
        var left = new ArrayList<float[]>();
        for (boolean decodes : new boolean[] {false, true}) {
            int rows = beginAttention(decodes);
            Rows absorbed = someGapless(rows, heads.queryHeads() * heads.keySize());
            Rows query = someGapless(rows, heads.queryHeads() * tail);
            Rows latent = someGapless(rows, heads.keySize());
            operations.ropeAndAppendLatent(query, latent, absorbed, layer, cache);
            left.add(readGapless(absorbed, rows));
            Rows output = gapless(
                    new float[rows * heads.queryHeads() * heads.valueSize()], heads.queryHeads() * heads.valueSize());
            operations.attention(absorbed, layer, cache, output);
            left.add(readGapless(output, rows));
        }
        return joined(left);
    }
}
