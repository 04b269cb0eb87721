package roselle.backend.reference;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.backend.Float64;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.ChosenPositions;
import roselle.backend.operation.Compression;
import roselle.backend.operation.Connection;
import roselle.backend.operation.Convolution;
import roselle.backend.operation.DeltaNet;
import roselle.backend.operation.DeltaRule;
import roselle.backend.operation.DistanceBias;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.backend.operation.PositionIndex;
import roselle.backend.operation.Rope;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.operation.SelectiveScan;
import roselle.backend.operation.UnfusedOperations;
import roselle.backend.operation.Xielu;
import roselle.backend.step.StepInputs;

/** Each operation as its formula says, in float64, rounded to float32 where it is stored. */
final class ReferenceOperations implements Operations {
    private final StepInputs step;
    private final ReferenceAdaptation adapters;

    /** Operations of one step. */
    ReferenceOperations(StepInputs step) {
        this.step = step;
        adapters = new ReferenceAdaptation(step);
    }

    /** A number of a row, by its column. */
    interface Column {
        double at(int column);
    }

    static void store(Rows rows, int row, Column numbers) {
        var all = new float[rows.columns()]; // before any is stored: the output may be the input
        for (int i = 0; i < all.length; i++) {
            all[i] = (float) numbers.at(i);
        }
        System.arraycopy(all, 0, ReferenceBuffer.of(rows.buffer()), ReferenceBuffer.at(rows, row), all.length);
    }

    private static double number(@Nullable Buffer buffer, int index) {
        return buffer == null ? 0 : ReferenceBuffer.of(buffer)[index];
    }

    @Override
    public void embed(Weight table, float scale, Rows output) {
        var numbers = (ReferenceWeight) table;
        for (int r = 0; r < step.rows; r++) {
            int token = step.tokenIds[r] < numbers.rows() ? step.tokenIds[r] : 0;
            store(output, r, i -> (double) scale * numbers.number(token, i));
        }
    }

    @Override
    public void addPositions(Weight table, Rows output) {
        add((ReferenceWeight) table, step.positions, output);
    }

    @Override
    public void addTypes(Weight table, Rows output) {
        add((ReferenceWeight) table, step.types, output);
    }

    private void add(ReferenceWeight table, int[] index, Rows output) {
        for (int r = 0; r < step.rows; r++) {
            int row = index[r];
            float[] before = ReferenceBuffer.row(output, r);
            store(output, r, i -> (double) before[i] + table.number(row, i));
        }
    }

    @Override
    public void selectOutputs(Rows input, Rows output) {
        for (int o = 0; o < step.outputs; o++) {
            float[] row = ReferenceBuffer.row(input, step.outputRow[o]);
            store(output, o, i -> row[i]);
        }
    }

    @Override
    public void adapt(Rows input, Weight weight, float scale, Rows output) {
        adapters.add(input, weight, scale, output);
    }

    @Override
    public void adaptTable(Weight table, float scale, Rows output) {
        adapters.changeTable(table, scale, output);
    }

    @Override
    public void adaptLogits(Rows input, Weight weight, Rows output, int outputs) {
        adapters.changeLogits(input, weight, output, outputs);
    }

    @Override
    public void adaptExperts(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        adapters.addToExperts(input, linear, routing, output, rows);
    }

    @Override
    public void norm(Rows input, Norm norm, Rows output, int rows) {
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(input, r);
            double[] normed = normed(x, 0, output.columns(), norm, 0);
            store(output, r, i -> normed[i]);
        }
    }

    @Override
    public void normHeads(Rows input, Norm norm, int size, Rows output, int rows) {
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(input, r);
            var all = new double[output.columns()];
            for (int from = 0; from < all.length; from += size) {
                System.arraycopy(normed(x, from, size, norm, 0), 0, all, from, size);
            }
            store(output, r, i -> all[i]);
        }
    }

    @Override
    public void addNormed(Rows input, Norm norm, float scale, Rows output, int rows) {
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(input, r);
            double[] normed = normed(x, 0, output.columns(), norm, 0);
            float[] before = ReferenceBuffer.row(output, r);
            store(output, r, i -> before[i] + scale * normed[i]);
        }
    }

    private static double[] normed(float[] x, int from, int count, Norm norm, int weightFrom) {
        double mean = 0;
        for (int i = 0; i < count && norm.kind() == Norm.Kind.LAYER; i++) {
            mean += (double) x[from + i] / count;
        }
        double variance = 0;
        for (int i = 0; i < count; i++) {
            variance += (x[from + i] - mean) * (x[from + i] - mean) / count;
        }
        var normed = new double[count];
        for (int i = 0; i < count; i++) {
            double weight = number(norm.weight(), weightFrom + i) + norm.weightOffset();
            double bias = number(norm.bias(), norm.bias() == null ? 0 : weightFrom + i);
            normed[i] = (x[from + i] - mean) / Math.sqrt(variance + norm.epsilon()) * weight + bias;
        }
        return normed;
    }

    @Override
    public void feedExperts(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        UnfusedOperations.feedExperts(this, input, experts, routing, sum, rows);
    }

    @Override
    public void addGated(Rows input, Rows gate, float scale, Rows output, int rows) {
        for (int r = 0; r < rows; r++) {
            double factor = sigmoid(ReferenceBuffer.row(gate, r)[0]) * scale;
            float[] x = ReferenceBuffer.row(input, r);
            float[] before = ReferenceBuffer.row(output, r);
            store(output, r, i -> before[i] + factor * x[i]);
        }
    }

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    @Override
    public void scaleLogits(Rows logits, float scale, float softCap, int rows) {
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(logits, r);
            store(logits, r, i -> capped((double) scale * x[i], softCap));
        }
    }

    private static double capped(double x, float softCap) {
        return softCap == 0 ? x : softCap * Math.tanh(x / softCap);
    }

    @Override
    public void linear(Rows input, Weight weight, Epilogue epilogue, Rows output, int rows) {
        var matrix = (ReferenceWeight) weight;
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(input, r);
            end(output, r, epilogue, 0, n -> matrix.dot(n, x, 0));
        }
    }

    /** Ends products of a row; its biases begin at a place. */
    private static void end(Rows output, int row, Epilogue epilogue, int biasFrom, Column sums) {
        float[] before = ReferenceBuffer.row(output, row);
        store(output, row, n -> {
            double bias = number(epilogue.bias(), epilogue.bias() == null ? 0 : biasFrom + n);
            double y = epilogue.scale() * Float64.activation(epilogue.activation(), sums.at(n) + bias);
            return epilogue.accumulates() ? before[n] + y : y;
        });
    }

    @Override
    public void logits(Rows input, Weight weight, Epilogue epilogue, Rows output, int outputs) {
        linear(input, weight, epilogue, output, outputs);
    }

    @Override
    public void normedLinear(
            Rows input, Norm norm, Rows normed, Weight weight, Epilogue epilogue, Rows output, int rows) {
        UnfusedOperations.normedLinear(this, input, norm, normed, weight, epilogue, output, rows);
    }

    @Override
    public void headLinear(Rows input, Weight weight, Rows output, int rows) {
        var all = (ReferenceWeight) weight;
        int inputStep = input.columns() / all.matrices();
        int outputStep = output.columns() / all.matrices();
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(input, r);
            for (int h = 0; h < all.matrices(); h++) {
                int head = h;
                store(
                        output.columns(h * outputStep, all.rows()),
                        r,
                        n -> all.dot(head * all.rows() + n, x, head * inputStep));
            }
        }
    }

    @Override
    public void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        for (int r = 0; r < rows; r++) {
            float[] gates = ReferenceBuffer.row(gate, r);
            float[] ups = ReferenceBuffer.row(up, r);
            store(output, r, i -> {
                double other = Math.max(-kind.upLimit(), Math.min(ups[i], kind.upLimit())) + (double) kind.upOffset();
                return Float64.activation(kind.activation(), Math.min(gates[i], kind.limit())) * other;
            });
        }
    }

    @Override
    public void gateNormed(Rows gate, Rows parts, Norm norm, Gate kind, Rows output, int rows) {
        UnfusedOperations.gateNormed(this, gate, parts, norm, kind, output, rows);
    }

    @Override
    public void gatedLinear(Rows input, @Nullable Norm norm, Rows normed, GatedLinear product, int rows) {
        UnfusedOperations.gatedLinear(this, input, norm, normed, product, rows);
    }

    @Override
    public void adaptedGatedLinear(Rows input, GatedLinear product, int rows) {
        UnfusedOperations.adaptedGatedLinear(this, input, product, rows);
    }

    @Override
    public void sparsify(Rows gates, float deviations, int rows) {
        ReferenceStreams.sparsify(gates, deviations, rows);
    }

    @Override
    public void xielu(Rows numbers, Xielu kind, int rows) {
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(numbers, r);
            store(numbers, r, i -> {
                double curve = x[i] > 0
                        ? kind.positive() * (double) x[i] * x[i]
                        : kind.negative() * (Math.expm1(Math.min(x[i], kind.bound())) - x[i]);
                return curve + kind.slope() * (double) x[i];
            });
        }
    }

    @Override
    public void mix(Rows input, Rows coefficients, int width, Rows output, int rows) {
        ReferenceStreams.mix(input, coefficients, width, output, rows);
    }

    @Override
    public void addAsLongAs(Rows input, Rows like, Rows output, int rows) {
        ReferenceStreams.addAsLongAs(input, like, output, rows);
    }

    @Override
    public void connect(Rows products, Connection connection, Rows coefficients, int rows) {
        ReferenceStreams.connect(products, connection, coefficients, rows);
    }

    @Override
    public void compress(Compression compression, KvCache cache, Rows room) {
        int tokens = cache.groups().get(compression.keys().group()).tokens();
        for (int r = 0; r < step.rows; r++) {
            if ((step.positions[r] + 1) % tokens == 0) {
                compress(compression, (ReferenceCache) cache, tokens, room.columns(0, compression.size()), r);
            }
        }
    }

    private void compress(Compression compression, ReferenceCache cache, int tokens, Rows key, int row) {
        AttentionLayer given = compression.tokens();
        AttentionLayer keys = compression.keys();
        int last = step.positions[row];
        int begin = last + 1 - tokens;
        int first = compression.overlaps() ? Math.max(0, begin - tokens) : begin;
        store(key, row, i -> {
            double total = 0;
            double sum = 0;
            for (int p = first; p <= last; p++) {
                int at = (compression.overlaps() && p >= begin ? compression.size() : 0) + i;
                int page = page(given.group(), sequence(row), p);
                double gate = cache.value(given.group(), given.layer(), page, 0, p)[at]
                        + number(compression.bias(), p % tokens * compression.given() + at);
                total += Math.exp(gate);
                sum += Math.exp(gate) * cache.key(given.group(), given.layer(), page, 0, p)[at];
            }
            return sum / total;
        });
        if (keys.keyNorm() != null) {
            float[] x = ReferenceBuffer.row(key, row);
            double[] normed = normed(x, 0, x.length, keys.keyNorm(), 0);
            store(key, row, i -> normed[i]);
        }
        rotate(key, row, keys, begin, 1);
        int page = page(keys.group(), sequence(row), last);
        append(key, row, cache, keys, cache.key(keys.group(), keys.layer(), page, 0, last));
    }

    @Override
    public void routeExperts(Rows logits, Router router, Routing routing, int rows) {
        for (int r = 0; r < rows; r++) {
            int token = router.ofTokens() == null ? 0 : step.tokenIds[r];
            new ReferenceRouting(router, ReferenceBuffer.row(logits, r)).choose(routing, r, token);
        }
    }

    @Override
    public void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows) {
        var experts = (ReferenceWeight) linear.experts();
        for (int choice = 0; choice < rows * routing.chosen(); choice++) {
            int first = (int) (number(routing.experts(), choice) * experts.rows());
            float[] x = ReferenceBuffer.row(input, linear.spread() ? choice : choice / routing.chosen());
            end(output, choice, linear.epilogue(), first, n -> experts.dot(first + n, x, 0));
        }
    }

    @Override
    public void combineExperts(Rows input, Routing routing, float scale, boolean adds, Rows output, int rows) {
        ReferenceAdaptation.combine(input, routing, scale, adds, output, rows);
    }

    @Override
    public void ropeAndAppendKv(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache) {
        HeadShape heads = layer.heads();
        for (int r = 0; r < step.rows; r++) {
            for (int h = 0; h < heads.queryHeads(); h++) {
                Rows asked = query.columns(h * heads.keySize(), heads.keySize());
                turn(asked, r, h, layer.queryNorm(), layer);
                grow(asked, r, layer);
            }
            for (int h = 0; h < heads.keyHeads() && layer.appends(); h++) {
                Rows one = key.columns(h * heads.keySize(), heads.keySize());
                turn(one, r, h, layer.keyNorm(), layer);
                var pages = (ReferenceCache) cache;
                int page = page(layer.group(), sequence(r), step.positions[r]);
                append(one, r, pages, layer, pages.key(layer.group(), layer.layer(), page, h, step.positions[r]));
                if (pages.groups().get(layer.group()).valueSize() == 0) {
                    continue;
                }
                Rows values = value.columns(h * heads.valueSize(), heads.valueSize());
                append(values, r, pages, layer, pages.value(layer.group(), layer.layer(), page, h, step.positions[r]));
            }
        }
    }

    /** Normalises and rotates a head of a row. */
    private void turn(Rows head, int row, int number, @Nullable Norm norm, AttentionLayer layer) {
        if (layer.traits().normsTurned()) {
            rotate(head, row, layer, step.positions[row], 1);
        }
        if (norm != null) {
            boolean isOfEach = norm.weight().elements() > head.columns();
            float[] x = ReferenceBuffer.row(head, row);
            double[] normed = normed(x, 0, x.length, norm, isOfEach ? number * x.length : 0);
            store(head, row, i -> normed[i]);
        }
        if (!layer.traits().normsTurned()) {
            rotate(head, row, layer, step.positions[row], 1);
        }
    }

    private void grow(Rows head, int row, AttentionLayer layer) {
        if (layer.traits().queryScale() != null) {
            float factor = layer.traits().queryScale().at(step.positions[row]);
            float[] x = ReferenceBuffer.row(head, row);
            store(head, row, i -> (double) factor * x[i]);
        }
    }

    private static void rotate(Rows head, int row, AttentionLayer layer, int position, int direction) {
        Rope rope = layer.rope();
        if (rope == null) {
            return;
        }
        int from = layer.turnsFrom();
        float[] frequencies = ReferenceBuffer.of(rope.inverseFrequencies());
        float[] x = ReferenceBuffer.row(head, row);
        float[] turned = x.clone();
        for (int i = 0; i < frequencies.length; i++) {
            double angle = position * frequencies[i]; // in float32
            int one = from + (rope.interleaved() ? 2 * i : i);
            int other = from + (rope.interleaved() ? 2 * i + 1 : i + frequencies.length);
            double cosine = Math.cos(angle) * rope.factor();
            double sine = Math.sin(angle) * rope.factor() * direction;
            turned[one] = (float) (x[one] * cosine - x[other] * sine);
            turned[other] = (float) (x[other] * cosine + x[one] * sine);
        }
        store(head, row, i -> turned[i]);
    }

    private static void append(Rows rows, int row, ReferenceCache pages, AttentionLayer layer, float[] target) {
        pages.keep(layer.group(), ReferenceBuffer.row(rows, row), target);
    }

    @Override
    public void ropeAndAppendLatent(Rows query, Rows latent, Rows absorbed, AttentionLayer layer, KvCache cache) {
        HeadShape heads = layer.heads();
        int tail = heads.keySize() - heads.valueSize();
        int querySize = query.columns() / heads.queryHeads();
        var pages = (ReferenceCache) cache;
        for (int r = 0; r < step.rows; r++) {
            for (int h = 0; h < heads.queryHeads(); h++) {
                float[] from = ReferenceBuffer.row(query.columns((h + 1) * querySize - tail, tail), r);
                Rows to = absorbed.columns((h + 1) * heads.keySize() - tail, tail);
                store(to, r, i -> from[i]);
                turn(to, r, h, null, layer);
                grow(absorbed.columns(h * heads.keySize(), heads.keySize()), r, layer);
            }
            turn(latent.columns(heads.valueSize(), tail), r, 0, null, layer);
            int page = page(layer.group(), sequence(r), step.positions[r]);
            Rows whole = latent.columns(0, heads.keySize());
            append(whole, r, pages, layer, pages.key(layer.group(), layer.layer(), page, 0, step.positions[r]));
        }
    }

    @Override
    public void choosePositions(Rows query, Rows weights, PositionIndex index, KvCache cache) {
        new ReferenceChoice(step, (ReferenceCache) cache).choose(query, weights, index);
    }

    @Override
    public void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output) {
        HeadShape heads = layer.heads();
        for (int r = 0; r < step.rows; r++) {
            for (int h = 0; h < heads.queryHeads(); h++) {
                float[] asked = ReferenceBuffer.row(query.columns(h * heads.keySize(), heads.keySize()), r);
                double[] attended = attended(asked, r, h, layer, (ReferenceCache) cache);
                Rows head = output.columns(h * heads.valueSize(), heads.valueSize());
                store(head, r, i -> attended[i]);
                if (layer.traits().turnsEnds()) {
                    rotate(head, r, layer, step.positions[r], -1);
                }
            }
        }
    }

    /** A key, and the last token that it is made of. */
    private record Key(AttentionLayer layer, int token) {}

    /** The keys that a row sees, those of several tokens behind the others. */
    private List<Key> keys(AttentionLayer layer, ReferenceCache cache, int row, int keyHead, int first, int end) {
        var keys = new ArrayList<Key>();
        for (int p : seen(layer.traits().chosen(), row, keyHead, first, end)) {
            keys.add(new Key(layer, p));
        }
        AttentionLayer further = layer.traits().compressed();
        if (further != null) {
            int tokens = cache.groups().get(further.group()).tokens();
            for (int e : seen(further.traits().chosen(), row, 0, 0, (step.positions[row] + 1) / tokens)) {
                keys.add(new Key(further, (e + 1) * tokens - 1));
            }
        }
        return keys;
    }

    private double[] attended(float[] query, int row, int head, AttentionLayer layer, ReferenceCache cache) {
        int keyHead = head * layer.heads().keyHeads() / layer.heads().queryHeads();
        int window = cache.groups().get(layer.group()).window();
        int own = step.positions[row];
        int first = cache.groups().get(layer.group()).firstSeen(own);
        int end = own + 1;
        if (layer.bidirectional()) {
            int s = sequence(row);
            int length = step.contextLength[s] + step.rowStart[s + 1] - step.rowStart[s];
            end = window == 0 ? length : Math.min(length, own + window);
        }
        double largest = layer.sinks() == null ? Double.NEGATIVE_INFINITY : number(layer.sinks(), head);
        List<Key> keys = keys(layer, cache, row, keyHead, first, end);
        var scores = new double[keys.size()];
        for (int k = 0; k < scores.length; k++) {
            AttentionLayer of = keys.get(k).layer();
            int p = keys.get(k).token();
            float[] key = cache.key(of.group(), of.layer(), page(of.group(), sequence(row), p), keyHead, p);
            double score = 0;
            for (int i = 0; i < query.length; i++) {
                score += (double) query[i] * key[i];
            }
            score += ReferenceDistances.met(layer, row, own, head, p);
            DistanceBias far = layer.traits().distances();
            double bias = far == null ? 0 : number(far.table(), far.index(head, p, own));
            double slope = number(layer.traits().slopes(), layer.traits().slopes() == null ? 0 : head);
            scores[k] = capped(score * layer.scale() + bias, layer.softCap()) + slope * (own - p);
            largest = Math.max(largest, scores[k]);
        }
        double total = layer.sinks() == null ? 0 : Math.exp(number(layer.sinks(), head) - largest);
        var sum = new double[layer.heads().valueSize()];
        for (int k = 0; k < scores.length; k++) {
            AttentionLayer of = keys.get(k).layer();
            int p = keys.get(k).token();
            float[] value = cache.value(of.group(), of.layer(), page(of.group(), sequence(row), p), keyHead, p);
            double weight = Math.exp(scores[k] - largest);
            total += weight;
            for (int i = 0; i < sum.length; i++) {
                sum[i] += weight * value[i];
            }
        }
        for (int i = 0; i < sum.length; i++) {
            sum[i] /= total;
        }
        return sum;
    }

    private int[] seen(@Nullable ChosenPositions chosen, int row, int keyHead, int first, int end) {
        if (chosen == null) {
            return IntStream.range(first, end).toArray();
        }
        int count = chosen.count(step.positions[row]);
        return IntStream.range(0, count)
                .map(i ->
                        (int) number(chosen.positions(), (int) chosen.at(row, chosen.choices() == 1 ? 0 : keyHead) + i))
                .toArray();
    }

    @Override
    public void convolve(Rows input, Convolution convolution, KvCache cache, Rows output) {
        new ReferenceStates(step, (ReferenceCache) cache).convolve(input, convolution, output);
    }

    @Override
    public void deltaNet(DeltaNet net, KvCache cache, int rows) {
        UnfusedOperations.deltaNet(this, net, cache, rows);
    }

    @Override
    public void selectiveScan(Rows x, Rows times, Rows b, Rows c, SelectiveScan scan, KvCache cache, Rows output) {
        new ReferenceStates(step, (ReferenceCache) cache).selectiveScan(x, times, b, c, scan, output);
    }

    @Override
    public void deltaRule(
            Rows query, Rows key, Rows value, Rows a, Rows b, DeltaRule rule, KvCache cache, Rows output) {
        new ReferenceStates(step, (ReferenceCache) cache).deltaRule(query, key, value, a, b, rule, output);
    }

    private int sequence(int row) {
        int sequence = 0;
        while (step.rowStart[sequence + 1] <= row) {
            sequence++;
        }
        return sequence;
    }

    private int page(int group, int sequence, int position) {
        return step.pageTable[group][sequence * step.maxPages + position / step.pageTokens];
    }

    @Override
    public void appendAndAttend(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache, Rows output) {
        UnfusedOperations.appendAndAttend(this, query, key, value, layer, cache, output);
    }
}
