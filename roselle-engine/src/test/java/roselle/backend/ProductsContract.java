package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.operation.UnfusedOperations;
import roselle.quantization.Group;
import roselle.quantization.GroupScales;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;
import roselle.testing.RandomLlama;

/** Products with weights: dense, per head, per chosen expert, and the choice itself. */
public abstract class ProductsContract extends RowsContract {
    private static final Activation[] ACTIVATIONS = Activation.values();
    private static final int EXPERTS = 5;
    private static final int EXPERT_OUTPUTS = 40;
    private static final int EXPERT_COLUMNS = 256;

    @ParameterizedTest
    @MethodSource("sizesAndRows")
    void multipliesRowsAndEndsAsToldTo(int columns, int rows) {
        for (int outputs : List.of(1, 5, 16, 37)) {
            float[] weight = random(outputs * columns);
            float[] bias = random(outputs);
            float[] input = random(rows * columns);
            float[] stream = random(rows * outputs);
            double[] product = product(input, weight, columns);
            Rows plain = poisoned(rows, outputs);
            operations.linear(rows(input, columns), weight(weight, 1, columns), Epilogue.PLAIN, plain, rows);
            assertClose(read(plain, rows), product);

            Activation activation = ACTIVATIONS[(columns + outputs) % ACTIVATIONS.length];
            var epilogue = new Epilogue(device.constants(bias), activation, 0.5f, true);
            Rows ended = rows(stream, outputs);
            operations.linear(rows(input, columns), weight(weight, 1, columns), epilogue, ended, rows);
            for (int i = 0; i < product.length; i++) {
                product[i] = stream[i] + 0.5 * Float64.activation(activation, product[i] + bias[i % outputs]);
            }
            assertClose(read(ended, rows), product);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 16, 33, 64, 72, 256, 520, 768, 1024, 1032})
    void normalisesAndMultipliesWithTheBitsOfBoth(int columns) {
        int outputs = 72;
        float[] numbers = random(outputs * columns);
        Weight weight = weight(numbers, 1, columns);
        Buffer scales = device.constants(random(columns));
        Buffer offsets = device.constants(random(columns));
        var epilogue = new Epilogue(device.constants(random(outputs)), Activation.GELU_TANH, 0.5f, true);
        for (Norm.Kind kind : Norm.Kind.values()) {
            var norm = new Norm(kind, scales, 0.5f, kind == Norm.Kind.LAYER ? offsets : null, 1e-5f);
            for (int rows : List.of(1, 3, 4, 8)) {
                Rows input = gapless(random(rows * columns), columns);
                float[] stream = random(rows * outputs);
                Rows normed = gapless(new float[rows * columns], columns);
                Rows expected = gapless(stream, outputs);
                operations.norm(input, norm, normed, rows);
                operations.linear(normed, weight, epilogue, expected, rows);
                Rows output = gapless(stream, outputs);
                Rows place = gapless(new float[rows * columns], columns);
                operations.normedLinear(input, norm, place, weight, epilogue, output, rows);
                assertThat(readGapless(output, rows))
                        .as("%d rows, %s, seed %d", rows, kind, SEED)
                        .isEqualTo(readGapless(expected, rows));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DataType.class,
            names = {"F32", "F16", "BF16"})
    void multipliesWithBlocksOfRowsOfSeveralTypes(DataType type) {
        int columns = 72;
        float[] first = random(5 * columns);
        float[] second = random(4 * columns);
        float[] rounded = new float[second.length];
        MemorySegment stored = store(second, type, rounded);
        Weight weight = device.load(
                "mixed",
                1,
                List.of(
                        StoredMatrix.of(new Tensor("a", DataType.F32, Shape.of(5, columns), segment(first))),
                        StoredMatrix.of(new Tensor("b", type, Shape.of(4, columns), stored))));
        assertThat(weight.rows()).isEqualTo(9);
        float[] all = Arrays.copyOf(first, first.length + rounded.length);
        System.arraycopy(rounded, 0, all, first.length, rounded.length);
        float[] input = random(3 * columns);
        Rows output = poisoned(3, 9);
        operations.linear(rows(input, columns), weight, Epilogue.PLAIN, output, 3);
        assertClose(read(output, 3), product(input, all, columns));
    }

    /** As queries and keys with values are in a Q4_K_M: devices may have tiles for each type. */
    @Test
    void multipliesWithBlocksOfSeveralQuantizedTypes() {
        int columns = EXPERT_COLUMNS;
        int rows = 70;
        var stored = new ArrayList<StoredMatrix>();
        var numbers = new ArrayList<Float>();
        for (var part : List.of(
                Map.entry(DataType.Q4_K, 128),
                Map.entry(DataType.Q4_K, 64),
                Map.entry(DataType.Q6_K, 64),
                Map.entry(DataType.Q8_0, 40))) {
            Shape shape = Shape.of(part.getValue(), columns);
            byte[] blocks = RandomLlama.blocks(random, part.getKey(), shape.elements());
            StoredMatrix matrix =
                    StoredMatrix.of(new Tensor("part", part.getKey(), shape, MemorySegment.ofArray(blocks)));
            stored.add(matrix);
            for (float number : matrix.numbers()) {
                numbers.add(number);
            }
        }
        Weight weight = device.load("mixed", 1, stored);
        int outputs = weight.rows();
        assertThat(outputs).isEqualTo(296);
        var all = new float[numbers.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = numbers.get(i);
        }
        float[] bias = random(outputs);
        float[] input = random(rows * columns);
        double[] expected = product(input, all, columns);
        for (int i = 0; i < expected.length; i++) {
            expected[i] += bias[i % outputs];
        }
        Epilogue epilogue = Epilogue.bias(device.constants(bias));
        Rows together = poisoned(rows, outputs);
        operations.linear(rows(input, columns), weight, epilogue, together, rows);
        assertCloseInAnyPrecision(read(together, rows), expected); // a device may multiply with bytes
        Rows first = poisoned(3, outputs);
        operations.linear(rows(Arrays.copyOf(input, 3 * columns), columns), weight, epilogue, first, 3);
        assertThat(read(first, 3)).containsExactly(Arrays.copyOf(read(together, rows), 3 * outputs));
    }

    private MemorySegment store(float[] numbers, DataType type, float[] rounded) {
        if (type == DataType.F32) {
            System.arraycopy(numbers, 0, rounded, 0, numbers.length);
            return segment(numbers);
        }
        var shorts = new short[numbers.length];
        for (int i = 0; i < shorts.length; i++) {
            int bits = Float.floatToRawIntBits(numbers[i]);
            shorts[i] = type == DataType.F16 ? Float.floatToFloat16(numbers[i]) : (short) (bits >>> 16);
            rounded[i] = type == DataType.F16 ? Float.float16ToFloat(shorts[i]) : Float.intBitsToFloat(shorts[i] << 16);
        }
        return arena.allocateFrom(ValueLayout.JAVA_SHORT, shorts);
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void givesARowTheSameBitsAloneAndAmongOthers(int columns) {
        int outputs = 19;
        float[] input = random(40 * columns);
        Weight weight = weight(random(outputs * columns), 1, columns);
        Rows together = poisoned(40, outputs);
        operations.linear(rows(input, columns), weight, Epilogue.PLAIN, together, 40);
        float[] all = read(together, 40);
        for (int count : List.of(1, 2, 5, 17)) {
            float[] some = Arrays.copyOfRange(input, 3 * columns, (3 + count) * columns);
            Rows apart = poisoned(count, outputs);
            operations.linear(rows(some, columns), weight, Epilogue.PLAIN, apart, count);
            assertThat(read(apart, count)).isEqualTo(Arrays.copyOfRange(all, 3 * outputs, (3 + count) * outputs));
        }
    }

    @Test
    void keepsNanOfAnInputWithinItsRow() {
        float[] input = random(3 * 40);
        input[45] = Float.NaN;
        Rows output = poisoned(3, 6);
        operations.linear(rows(input, 40), weight(random(6 * 40), 1, 40), Epilogue.PLAIN, output, 3);
        float[] product = read(output, 3);
        for (int i = 0; i < product.length; i++) {
            assertThat(Float.isNaN(product[i])).isEqualTo(i / 6 == 1);
        }
    }

    @Test
    void multipliesEachHeadWithItsMatrix() {
        int heads = 3;
        int rows = 4;
        int outputs = 5;
        int columns = 11;
        float[] weight = random(heads * outputs * columns);
        float[] input = random(rows * heads * 17); // 17 numbers per head, of which 11 take part
        float[] before = random(rows * heads * 9); // 9 per head, of which 5 are written
        Rows output = rows(before, heads * 9);
        operations.headLinear(rows(input, heads * 17), weight(weight, heads, columns), output, rows);
        var expected = doubles(before);
        for (int r = 0; r < rows; r++) {
            for (int h = 0; h < heads; h++) {
                float[] part = Arrays.copyOfRange(input, (r * heads + h) * 17, (r * heads + h) * 17 + columns);
                float[] matrix = Arrays.copyOfRange(weight, h * outputs * columns, (h + 1) * outputs * columns);
                System.arraycopy(product(part, matrix, columns), 0, expected, (r * heads + h) * 9, outputs);
            }
        }
        assertClose(read(output, rows), expected);
    }

    @Test
    void choosesExpertsBySoftmaxBySigmoidAndByGroups() {
        Router softmax = router(Router.Scoring.SOFTMAX, 6, 2, false, 1, 1, null, 1f);
        assertRouted(softmax, new float[] {0, 2, 1, 2, -1, 0}, new int[] {1, 3}, new double[] {0.37198, 0.37198});
        Router normalized = router(Router.Scoring.SOFTMAX, 6, 2, true, 1, 1, null, 2f);
        assertRouted(normalized, new float[] {0, 2, 1, 2, -1, 0}, new int[] {1, 3}, new double[] {1, 1});
        Router ofChosen = router(Router.Scoring.SOFTMAX_OF_CHOSEN, 4, 2, false, 1, 1, null, 1f);
        assertRouted(ofChosen, new float[] {1, 0, 2, -3}, new int[] {2, 0}, new double[] {0.7311, 0.2689});
        Buffer ofExperts = device.constants(new float[] {5, 3, 7, 0.5f, 2, 2});
        var scaled = new Router(Router.Scoring.SOFTMAX, 6, 2, true, 1, 1, null, 2f, ofExperts);
        assertRouted(scaled, new float[] {0, 2, 1, 2, -1, 0}, new int[] {1, 3}, new double[] {3, 0.5});
        // groups {0, 1}, {2, 3}, {4, 5}: the third has the best pair once corrected, the first the best expert
        float[] correction = {0, 0, 0, 0, 0.5f, 0.5f};
        Router grouped = router(Router.Scoring.SIGMOID, 6, 2, false, 3, 1, correction, 1f);
        assertRouted(grouped, new float[] {3, -3, 0, 0, 0.1f, 0.2f}, new int[] {5, 4}, new double[] {0.5498, 0.5250});
    }

    @Test
    void hasTheSharedExpertOfAStackAsTheLastChoiceOfEveryRow() {
        Router softmax = router(Router.Scoring.SOFTMAX, 6, 2, true, 1, 1, null, 2f);
        float[] logits = {0, 2, 1, 2, -1, 0, 1.5f};
        int[] experts = {1, 3, 6};
        assertRouted(softmax.with(new Router.Shared(0.25f, false)), logits, experts, new double[] {1, 1, 0.25});
        assertRouted(softmax.with(new Router.Shared(0.5f, true)), logits, experts, new double[] {1, 1, 0.40879});
        Router sigmoids = router(Router.Scoring.SIGMOID, 6, 2, false, 3, 1, new float[] {0, 0, 0, 0, 0.5f, 0.5f}, 1f);
        assertRouted(
                sigmoids.with(new Router.Shared(1f, true)),
                new float[] {3, -3, 0, 0, 0.1f, 0.2f, -2},
                new int[] {5, 4, 6},
                new double[] {0.5498, 0.5250, 0.1192});
    }

    private Router router(
            Router.Scoring scoring,
            int experts,
            int chosen,
            boolean normalizes,
            int groups,
            int chosenGroups,
            float @Nullable [] correction,
            float scale) {
        Buffer corrections = correction == null ? null : device.constants(correction);
        return new Router(scoring, experts, chosen, normalizes, groups, chosenGroups, corrections, scale);
    }

    /** Routes two rows, of which the second has other logits, and checks the first by way of the weights' sums. */
    private void assertRouted(Router router, float[] logits, int[] experts, double[] weights) {
        int count = router.stacked();
        int chosen = router.choices();
        var two = Arrays.copyOf(logits, 2 * count);
        System.arraycopy(random(count), 0, two, count, count);
        Routing routing = routing(2, chosen);
        operations.routeExperts(rows(two, count), router, routing, 2);
        // expert e's matrix gives e + 1 for an input of 1, so that the products name the experts
        var names = new float[count];
        for (int e = 0; e < count; e++) {
            names[e] = e + 1;
        }
        Rows outputs = poisoned(2 * chosen, 1);
        var linear = new ExpertLinear(weight(names, count, 1), Epilogue.PLAIN, false);
        operations.groupedLinear(rows(new float[] {1, 1}, 1), linear, routing, outputs, 2);
        float[] named = Arrays.copyOf(read(outputs, 2 * chosen), chosen);
        double expected = 10;
        for (int j = 0; j < chosen; j++) {
            assertThat(named[j]).isEqualTo(experts[j] + 1);
            expected += weights[j] * (experts[j] + 1);
        }
        Rows sum = rows(new float[] {10, 10}, 1);
        operations.combineExperts(outputs, routing, 1f, true, sum, 2);
        assertThat((double) read(sum, 2)[0])
                .isCloseTo(expected, org.assertj.core.api.Assertions.within(Math.max(1e-3, tolerance() * expected)));
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void multipliesWithTheChosenExperts(int columns) {
        int experts = 5;
        int outputs = 7;
        int rows = 6;
        float[] logits = random(rows * experts);
        float[] weight = random(experts * outputs * columns);
        float[] bias = random(experts * outputs);
        Routing routing = routing(rows, 2);
        var router = router(Router.Scoring.SOFTMAX, experts, 2, true, 1, 1, null, 1f);
        operations.routeExperts(rows(logits, experts), router, routing, rows);
        var chosen = new ArrayList<int[]>();
        for (int r = 0; r < rows; r++) {
            chosen.add(twoBest(Arrays.copyOfRange(logits, r * experts, (r + 1) * experts)));
        }
        for (boolean spread : new boolean[] {false, true}) {
            float[] input = random((spread ? 2 : 1) * rows * columns);
            var linear =
                    new ExpertLinear(weight(weight, experts, columns), Epilogue.bias(device.constants(bias)), spread);
            Rows output = poisoned(2 * rows, outputs);
            operations.groupedLinear(rows(input, columns), linear, routing, output, rows);
            var expected = new double[2 * rows * outputs];
            for (int choice = 0; choice < 2 * rows; choice++) {
                int expert = chosen.get(choice / 2)[choice % 2];
                int row = spread ? choice : choice / 2;
                float[] one = Arrays.copyOfRange(input, row * columns, (row + 1) * columns);
                float[] matrix =
                        Arrays.copyOfRange(weight, expert * outputs * columns, (expert + 1) * outputs * columns);
                double[] product = product(one, matrix, columns);
                for (int n = 0; n < outputs; n++) {
                    expected[choice * outputs + n] = product[n] + bias[expert * outputs + n];
                }
            }
            assertClose(read(output, 2 * rows), expected);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DataType.class,
            names = {
                "F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "MXFP4", "F8_E4M3", "F8_E5M2", "IQ4_NL",
                "IQ4_XS"
            })
    void expertsOfAnyTypeGiveARowTheSameBitsAloneAndAmongOthers(DataType type) {
        long numbers = (long) EXPERTS * EXPERT_OUTPUTS * EXPERT_COLUMNS;
        MemorySegment data = MemorySegment.ofArray(RandomLlama.blocks(random, type, numbers));
        Shape shape = Shape.of((long) EXPERTS * EXPERT_OUTPUTS, EXPERT_COLUMNS);
        expertsGiveARowTheSameBits(List.of(StoredMatrix.of(new Tensor("experts", type, shape, data))));
    }

    @Test
    void expertsWithScalesInASecondTensorGiveARowTheSameBitsAloneAndAmongOthers() {
        var group = new Group(16, 128);
        Shape shape = Shape.of(EXPERT_OUTPUTS, EXPERT_COLUMNS);
        Shape grid = group.grid(shape);
        var stored = new ArrayList<StoredMatrix>();
        for (int expert = 0; expert < EXPERTS; expert++) {
            byte[] codes = RandomLlama.blocks(random, DataType.F8_E4M3, shape.elements());
            float[] scales = random((int) grid.elements());
            for (int i = 0; i < scales.length; i++) {
                scales[i] = 0.5f + Math.abs(scales[i]);
            }
            var numbers = new Tensor("codes", DataType.F8_E4M3, shape, MemorySegment.ofArray(codes));
            var factors = new Tensor("scales", DataType.F32, grid, MemorySegment.ofArray(scales));
            stored.add(new StoredMatrix.Scaled(numbers, new GroupScales(group, factors, 0)));
        }
        expertsGiveARowTheSameBits(stored);
    }

    @ParameterizedTest
    @CsvSource({"4, 32", "4, 128", "8, 64"})
    void columnsWhoseNeighboursAreOfOtherGroupsAreMultipliedLikeOthers(int bits, int size) {
        int columns = EXPERT_COLUMNS;
        int outputs = EXPERT_OUTPUTS;
        int rows = 70;
        StoredMatrix stored = ordered(bits, size);
        Weight weight = device.load("ordered", 1, List.of(stored));
        float[] input = random(rows * columns);
        double[] expected = product(input, stored.numbers(), columns);
        Rows together = poisoned(rows, outputs);
        operations.linear(rows(input, columns), weight, Epilogue.PLAIN, together, rows);
        assertClose(read(together, rows), expected);
        Rows first = poisoned(3, outputs);
        operations.linear(rows(Arrays.copyOf(input, 3 * columns), columns), weight, Epilogue.PLAIN, first, 3);
        assertThat(read(first, 3)).containsExactly(Arrays.copyOf(read(together, rows), 3 * outputs));
    }

    /** Codes in groups of which each has columns from all over the matrix. */
    private StoredMatrix ordered(int bits, int size) {
        Shape shape = Shape.of(EXPERT_OUTPUTS, EXPERT_COLUMNS);
        var group = new Group(1, size);
        Shape grid = group.grid(shape);
        var codes = new byte[(int) shape.elements()];
        random.nextBytes(codes);
        for (int i = 0; i < codes.length; i++) {
            codes[i] = (byte) (codes[i] >> (8 - bits));
        }
        float[] scales = random((int) grid.elements());
        for (int i = 0; i < scales.length; i++) {
            scales[i] = (0.5f + Math.abs(scales[i])) / (1 << bits);
        }
        var groups = new ArrayList<Integer>();
        for (int column = 0; column < EXPERT_COLUMNS; column++) {
            groups.add(column / size);
        }
        Collections.shuffle(groups, random);
        int[] order = groups.stream().mapToInt(one -> one).toArray();
        var numbers = new Tensor("codes", DataType.I8, shape, MemorySegment.ofArray(codes));
        var factors = new Tensor("scales", DataType.F32, grid, MemorySegment.ofArray(scales));
        var places = new Tensor("g_idx", DataType.I32, Shape.of(EXPERT_COLUMNS), MemorySegment.ofArray(order));
        return new StoredMatrix.Scaled(numbers, new GroupScales(group, factors, 0, places), bits);
    }

    private void expertsGiveARowTheSameBits(List<StoredMatrix> stored) {
        int experts = EXPERTS;
        int outputs = EXPERT_OUTPUTS;
        int columns = EXPERT_COLUMNS;
        int rows = 90;
        var weights = new float[experts * outputs * columns];
        int at = 0;
        for (StoredMatrix matrix : stored) {
            float[] numbers = matrix.numbers();
            System.arraycopy(numbers, 0, weights, at, numbers.length);
            at += numbers.length;
        }
        var linear = new ExpertLinear(device.load("experts", experts, stored), Epilogue.PLAIN, false);
        float[] logits = new float[rows * experts]; // far apart: no rounding makes a tie of them
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (i / experts * 3 + i % experts * (1 + i / experts % 4)) % experts;
        }
        float[] input = random(rows * columns);
        float[] together = grouped(linear, logits, input, rows, experts);
        var expected = new double[2 * rows * outputs];
        for (int r = 0; r < rows; r++) {
            float[] own = Arrays.copyOfRange(input, r * columns, (r + 1) * columns);
            int[] chosen = twoBest(Arrays.copyOfRange(logits, r * experts, (r + 1) * experts));
            for (int j = 0; j < 2; j++) {
                int from = chosen[j] * outputs * columns;
                double[] product = product(own, Arrays.copyOfRange(weights, from, from + outputs * columns), columns);
                System.arraycopy(product, 0, expected, (2 * r + j) * outputs, outputs);
            }
        }
        assertCloseInAnyPrecision(together, expected);
        for (int count : List.of(1, 2, 15, 60)) {
            int last = Math.min(rows, 20 + count);
            float[] few = grouped(
                    linear,
                    Arrays.copyOfRange(logits, 20 * experts, last * experts),
                    Arrays.copyOfRange(input, 20 * columns, last * columns),
                    count,
                    experts);
            assertThat(few)
                    .as("rows 20 to %d alone", last)
                    .containsExactly(Arrays.copyOfRange(together, 40 * outputs, 2 * last * outputs));
        }
    }

    @ParameterizedTest
    @CsvSource({"512, 64, SILU", "96, 160, GELU_TANH", "704, 352, SILU"})
    void feedsExpertsWithTheBitsOfTheirParts(int columns, int size, Activation activation) {
        int experts = 16;
        DataType type = device.activationType();
        float[] first = random(experts * 2 * size * columns);
        float[] second = random(experts * columns * size);
        var gateAndUp = new ExpertLinear(stack(first, type, columns), Epilogue.PLAIN, false);
        var down = new ExpertLinear(stack(second, type, size), Epilogue.PLAIN, true);
        var router = router(Router.Scoring.SOFTMAX, experts, 2, true, 1, 1, null, 1f);
        for (int rows : List.of(1, 2, 5)) {
            Routing routing = routing(rows, 2);
            Rows both = gapless(new float[4 * rows * size], 2 * size);
            Rows outputs = gapless(new float[2 * rows * columns], columns);
            Rows gates = both.columns(0, size);
            var products = new ExpertProducts(
                    gateAndUp, both, gates, both.columns(size, size), new Gate(activation, 2f, 0.5f), down, outputs);
            operations.routeExperts(rows(random(rows * experts), experts), router, routing, rows);
            Rows input = gapless(random(rows * columns), columns);
            Rows shared = gapless(random(rows * columns), columns);
            Rows gate = gapless(random(rows), 1);
            float[] stream = random(rows * columns);
            for (int kind = 0; kind < 3; kind++) {
                Rows expected = gapless(stream, columns);
                Rows output = gapless(stream, columns);
                UnfusedOperations.feedExperts(
                        operations, input, products, routing, sum(expected, kind, shared, gate), rows);
                operations.feedExperts(input, products, routing, sum(output, kind, shared, gate), rows);
                assertThat(readGapless(output, rows))
                        .as("%d rows, kind %d, seed %d", rows, kind, SEED)
                        .isEqualTo(readGapless(expected, rows));
            }
        }
    }

    /** A sum alone, one that is added, and one to which a shared expert is added, too. */
    private static ExpertSum sum(Rows output, int kind, Rows shared, Rows gate) {
        return kind == 2 ? new ExpertSum(output, 0.75f, true, shared, gate) : new ExpertSum(output, 0.75f, kind == 1);
    }

    /** Matrices of experts, in a type. */
    private Weight stack(float[] numbers, DataType type, int columns) {
        MemorySegment stored = store(numbers, type, new float[numbers.length]);
        var tensor = new Tensor("experts", type, Shape.of(numbers.length / columns, columns), stored);
        return device.load("experts", 16, List.of(StoredMatrix.of(tensor)));
    }

    /** Products with quantized weights may round their other factor, too, where the device was asked to. */
    private void assertCloseInAnyPrecision(float[] actual, double[] expected) {
        double largest = Arrays.stream(expected).map(Math::abs).max().orElseThrow();
        for (int i = 0; i < actual.length; i++) {
            assertThat((double) actual[i])
                    .as("number %d, seed %d", i, SEED)
                    .isCloseTo(
                            expected[i], org.assertj.core.api.Assertions.within(Math.max(tolerance(), 2e-2) * largest));
        }
    }

    /** What the two best experts of each row make of it. */
    private float[] grouped(ExpertLinear linear, float[] logits, float[] input, int rows, int experts) {
        Routing routing = routing(rows, 2);
        var router = router(Router.Scoring.SOFTMAX, experts, 2, true, 1, 1, null, 1f);
        operations.routeExperts(rows(logits, experts), router, routing, rows);
        Rows output = poisoned(2 * rows, linear.experts().rows());
        operations.groupedLinear(rows(input, input.length / rows), linear, routing, output, rows);
        return read(output, 2 * rows);
    }

    private Routing routing(int rows, int chosen) {
        long choices = (long) rows * chosen;
        return new Routing(device.allocate(DataType.I32, choices), device.allocate(DataType.F32, choices), chosen);
    }

    private static int[] twoBest(float[] logits) {
        int first = 0;
        for (int e = 1; e < logits.length; e++) {
            first = logits[e] > logits[first] ? e : first;
        }
        int second = first == 0 ? 1 : 0;
        for (int e = 0; e < logits.length; e++) {
            second = e != first && logits[e] > logits[second] ? e : second;
        }
        return new int[] {first, second};
    }

    /** {@code [rows, outputs]} in float64. */
    static double[] product(float[] input, float[] weight, int columns) {
        int rows = input.length / columns;
        int outputs = weight.length / columns;
        var product = new double[rows * outputs];
        for (int r = 0; r < rows; r++) {
            for (int n = 0; n < outputs; n++) {
                double sum = 0;
                for (int i = 0; i < columns; i++) {
                    sum += (double) input[r * columns + i] * weight[n * columns + i];
                }
                product[r * outputs + n] = sum;
            }
        }
        return product;
    }
}
