package roselle.cpu.state;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;
import static roselle.cpu.vector.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import roselle.backend.memory.Rows;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.DeltaRule;
import roselle.backend.step.StepInputs;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;

/**
 * The delta rule for one key head of a sequence and the value heads that go with it, row by row by the formula of a page
 * ({@link roselle.backend.operation.Operations#deltaRule}).
 *
 * <p><b>Order.</b> For each column of a value: the rows of the state in ascending order, then the corrections of the page's
 * earlier tokens in ascending order, each product fused. Nothing depends on where a step begins. <b>Memory.</b> A page that
 * nobody keeps is computed in the memory of the next one that is kept, whose own rows and state come later and take its place;
 * so no state lies anywhere but in a page.
 */
final class DeltaHead {
    private static final int BLOCK = 4; // vectors of columns that are summed at a time

    private DeltaHeads heads = new DeltaHeads(1, 1, 1, 1);
    private int keyStride; // numbers of a key in whole vectors
    private int valueStride;
    private float[]
            keys = {}; // [pageTokens][keyStride], of unit length; decayed up to now where channels decay by themselves
    private float[] query = {}; // [keyStride]
    private float[] corrections = {}; // [valueHeads of the key head][pageTokens][valueStride]
    private float[] sums = {}; // [valueHeads of the key head][pageTokens], of g
    private float[] keyScores = {}; // [pageTokens]
    private float[] queryScores = {}; // [pageTokens]
    private float[] keyWeights = {}; // [pageTokens]
    private float[] queryWeights = {}; // [pageTokens]
    private float[] values = {}; // [valueStride]
    private float[] outputs = {}; // [valueStride]
    private float[] seen = {}; // [valueStride], what was known of this key
    private float[] stateKey = {}; // [keyStride], what the state behind the last page is asked for
    private float[] stateQuery = {}; // [keyStride]
    private float[] decays = {}; // [keyStride], of a token's channels
    private float[] passed = {}; // [keyStride], the products of those of the page so far
    private final float[] lanes = new float[COUNT];

    void reserve(DeltaHeads shape, int pageTokens) {
        if (shape.equals(heads) && keyScores.length == pageTokens) {
            return;
        }
        heads = shape;
        keyStride = Lanes.padded(shape.keySize());
        valueStride = Lanes.padded(shape.valueSize());
        int together = shape.valueHeads() / shape.keyHeads();
        keys = new float[pageTokens * keyStride];
        query = new float[keyStride];
        corrections = new float[together * pageTokens * valueStride];
        sums = new float[together * pageTokens];
        keyScores = new float[pageTokens];
        queryScores = new float[pageTokens];
        keyWeights = new float[pageTokens];
        queryWeights = new float[pageTokens];
        values = new float[valueStride];
        outputs = new float[valueStride];
        seen = new float[valueStride];
        stateKey = new float[keyStride];
        stateQuery = new float[keyStride];
        decays = new float[keyStride];
        passed = new float[keyStride];
    }

    /** All rows that a sequence has in a step. */
    void run(DeltaRules call, int sequence, int keyHead) {
        StepInputs inputs = call.inputs();
        int pageTokens = inputs.pageTokens;
        int first = inputs.rowStart[sequence];
        int end = inputs.rowStart[sequence + 1];
        for (int r = first; r < end; r++) {
            int position = inputs.positions[r];
            int token = position % pageTokens;
            int index = position / pageTokens;
            int last = inputs.positions[end - 1] / pageTokens;
            long rows = memory(call, sequence, index, last);
            long before = index == 0 ? -1 : memory(call, sequence, index - 1, last);
            if (r == first) {
                readPage(call, rows, token, keyHead);
            }
            row(call, r, token, keyHead, rows, before);
        }
    }

    /** Where the page that takes the place of page {@code index} begins. */
    private static long memory(DeltaRules call, int sequence, int index, int last) {
        DeltaRule rule = call.rule();
        return StatePages.begin(call.inputs(), call.cache(), rule.group(), rule.layer(), sequence, index, last);
    }

    private int rowSize() {
        return heads.keys() + heads.values() + heads.decays();
    }

    /** Fetches what the page's first {@code tokens} rows left. */
    private void readPage(DeltaRules call, long rows, int tokens, int keyHead) {
        MemorySegment pages = call.cache().segment(call.rule().group());
        int together = heads.valueHeads() / heads.keyHeads();
        for (int j = 0; j < tokens; j++) {
            long row = rows + (long) j * rowSize();
            read(pages, row + (long) keyHead * heads.keySize(), keys, j * keyStride, heads.keySize());
            for (int i = 0; i < together; i++) {
                int head = heads.valueHead(keyHead, i);
                int at = i * keyScores.length + j;
                long correction = row + heads.keys() + (long) head * heads.valueSize();
                read(pages, correction, corrections, at * valueStride, heads.valueSize());
                if (!heads.decaysByChannel()) {
                    sums[at] = CpuBuffer.number(pages, row + heads.keys() + heads.values() + head);
                }
            }
            if (heads.decaysByChannel()) {
                read(pages, row + decaysAt(keyHead), decays, 0, heads.keySize());
                decayChannels(j);
            }
        }
    }

    private long decaysAt(int keyHead) {
        return heads.keys() + heads.values() + (long) keyHead * heads.keySize();
    }

    /** The decays of a token: {@code e^g} of each channel. */
    private void findDecays(DeltaRules call, int r, int keyHead) {
        float rate = CpuBuffer.number(CpuBuffer.of(call.rule().rate()), keyHead);
        float least = call.rule().least();
        int first = keyHead * heads.keySize();
        for (int a = 0; a < heads.keySize(); a++) {
            float bias = CpuBuffer.number(CpuBuffer.of(call.rule().timeBias()), first + a);
            float x = number(call.a(), r, first + a) + bias;
            float g = least == 0 ? rate * softplus(x) : least * VectorFunctions.sigmoid(-rate * x);
            decays[a] = VectorFunctions.exp(g);
        }
    }

    /** Lets a token's decays pass over what the page's earlier tokens left. */
    private void decayChannels(int token) {
        for (int j = 0; j < token; j++) {
            multiply(keys, j * keyStride, decays);
        }
        if (token == 0) {
            System.arraycopy(decays, 0, passed, 0, keyStride);
        } else {
            multiply(passed, 0, decays);
        }
    }

    /** Numbers of a key times others, in place. */
    private void multiply(float[] target, int at, float[] factors) {
        for (int a = 0; a < keyStride; a += COUNT) {
            FloatVector.fromArray(FLOATS, target, at + a)
                    .mul(FloatVector.fromArray(FLOATS, factors, a))
                    .intoArray(target, at + a);
        }
    }

    private static void read(MemorySegment segment, long from, float[] target, int at, int count) {
        MemorySegment.copy(segment, JAVA_FLOAT, from * Float.BYTES, target, at, count);
    }

    private static void write(float[] source, int at, MemorySegment segment, long to, int count) {
        MemorySegment.copy(source, at, segment, JAVA_FLOAT, to * Float.BYTES, count);
    }

    private void row(DeltaRules call, int r, int token, int keyHead, long rows, long before) {
        MemorySegment pages = call.cache().segment(call.rule().group());
        long row = rows + (long) token * rowSize();
        boolean isSpace = call.rule().space() != null;
        readHead(call.key(), r, keyHead, keys, token * keyStride, isSpace, 1f);
        readHead(call.query(), r, keyHead, query, 0, isSpace, (float) (1 / Math.sqrt(heads.keySize())));
        write(keys, token * keyStride, pages, row + (long) keyHead * heads.keySize(), heads.keySize());
        System.arraycopy(keys, token * keyStride, stateKey, 0, keyStride);
        System.arraycopy(query, 0, stateQuery, 0, keyStride);
        if (heads.decaysByChannel()) {
            findDecays(call, r, keyHead);
            write(decays, 0, pages, row + decaysAt(keyHead), heads.keySize());
            decayChannels(token);
            multiply(stateKey, 0, passed);
            multiply(stateQuery, 0, passed);
        }
        for (int j = 0; j <= token; j++) {
            keyScores[j] = isSpace ? 0f : dot(keys, j * keyStride, keys, token * keyStride);
            queryScores[j] = dot(keys, j * keyStride, query, 0);
        }
        int together = heads.valueHeads() / heads.keyHeads();
        for (int i = 0; i < together; i++) {
            int head = heads.valueHead(keyHead, i);
            long state = before < 0 ? -1 : before + stateAt(head);
            valueHead(call, r, token, i, head, state);
            int at = i * keyScores.length + token;
            long correction = row + heads.keys() + (long) head * heads.valueSize();
            write(corrections, at * valueStride, pages, correction, heads.valueSize());
            if (!heads.decaysByChannel()) {
                CpuBuffer.number(pages, row + heads.keys() + heads.values() + head, sums[at]);
            }
            if (token == keyScores.length - 1) {
                endPage(pages, i, state, rows + stateAt(head));
            }
        }
    }

    /** Where a head's state lies, from the beginning of its page on. */
    private long stateAt(int head) {
        return (long) keyScores.length * rowSize() + (long) head * heads.headState();
    }

    /** A head of a row, as it is or divided by its norm and scaled. */
    private void readHead(Rows from, int r, int head, float[] target, int at, boolean asIs, float scale) {
        int size = heads.keySize();
        read(CpuBuffer.of(from), CpuBuffer.row(from, r) + (long) head * size, target, at, size);
        if (asIs) {
            return;
        }
        float factor = scale / (float) Math.sqrt(dot(target, at, target, at) + DeltaRule.EPSILON);
        for (int i = at; i < at + size; i++) {
            target[i] *= factor;
        }
    }

    /** The product of two keys, which end in zeros up to a whole vector. */
    private float dot(float[] one, int oneAt, float[] other, int otherAt) {
        FloatVector sum = FloatVector.zero(FLOATS);
        for (int i = 0; i < keyStride; i += COUNT) {
            FloatVector x = FloatVector.fromArray(FLOATS, one, oneAt + i);
            sum = x.fma(FloatVector.fromArray(FLOATS, other, otherAt + i), sum);
        }
        sum.intoArray(lanes, 0);
        return Lanes.sum(lanes);
    }

    private void valueHead(DeltaRules call, int r, int token, int i, int head, long state) {
        DeltaRule rule = call.rule();
        int size = heads.valueSize();
        int first = i * keyScores.length;
        read(CpuBuffer.of(call.value()), CpuBuffer.row(call.value(), r) + (long) head * size, values, 0, size);
        MemorySegment pages = call.cache().segment(rule.group());
        if (heads.decaysByChannel()) {
            System.arraycopy(keyScores, 0, keyWeights, 0, token);
            System.arraycopy(queryScores, 0, queryWeights, 0, token);
            sumKeyAndQuery(pages, state, 1f);
            sumCorrections(first, token, share(call, r, head));
        } else {
            decayedHead(call, r, token, first, head, state);
        }
        write(outputs, 0, CpuBuffer.of(call.output()), CpuBuffer.row(call.output(), r) + (long) head * size, size);
    }

    /** A head with one decay for all of its state. */
    private void decayedHead(DeltaRules call, int r, int token, int first, int head, long state) {
        DeltaRule rule = call.rule();
        DeltaRule.Space space = rule.space();
        float time = softplus(number(call.a(), r, head) + CpuBuffer.number(CpuBuffer.of(rule.timeBias()), head));
        if (space != null) {
            time = Math.clamp(time, space.shortest(), space.longest());
        }
        float g = CpuBuffer.number(CpuBuffer.of(rule.rate()), head) * time;
        float total = token == 0 ? g : sums[first + token - 1] + g;
        sums[first + token] = total;
        for (int j = 0; j < token; j++) {
            float decay = VectorFunctions.exp(total - sums[first + j]);
            keyWeights[j] = decay * keyScores[j];
            queryWeights[j] = decay * queryScores[j];
        }
        MemorySegment pages = call.cache().segment(rule.group());
        float decay = VectorFunctions.exp(total);
        if (space == null) {
            sumKeyAndQuery(pages, state, decay);
            sumCorrections(first, token, share(call, r, head));
        } else {
            sumState(pages, state, decay);
            sumValues(first, token, time, CpuBuffer.number(CpuBuffer.of(space.skip()), head));
        }
    }

    private static float number(Rows rows, int row, int column) {
        return CpuBuffer.number(CpuBuffer.of(rows), CpuBuffer.row(rows, row) + column);
    }

    private static float softplus(float x) {
        return (float) (Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs((double) x))));
    }

    /** What the state says of key and query, {@code decay} times: the first into this token's correction, the second into the output. */
    private void sumKeyAndQuery(MemorySegment pages, long state, float decay) {
        if (state < 0) {
            Arrays.fill(seen, 0f);
            Arrays.fill(outputs, 0f);
            return;
        }
        int size = heads.valueSize();
        int column = 0;
        for (; column + BLOCK * COUNT <= size; column += BLOCK * COUNT) {
            sumBoth(pages, state + column, column, decay);
        }
        for (; column + COUNT <= size; column += COUNT) {
            sumVector(pages, state + column, column, decay);
        }
        for (; column < size; column++) {
            float ofKey = 0;
            float ofQuery = 0;
            for (int a = 0; a < heads.keySize(); a++) {
                float number = CpuBuffer.number(pages, state + (long) a * size + column);
                ofKey = Math.fma(stateKey[a], number, ofKey);
                ofQuery = Math.fma(stateQuery[a], number, ofQuery);
            }
            seen[column] = ofKey * decay;
            outputs[column] = ofQuery * decay;
        }
    }

    private void sumVector(MemorySegment pages, long state, int column, float decay) {
        int size = heads.valueSize();
        FloatVector ofKey = FloatVector.zero(FLOATS);
        FloatVector ofQuery = FloatVector.zero(FLOATS);
        for (int a = 0; a < heads.keySize(); a++) {
            FloatVector numbers =
                    FloatVector.fromMemorySegment(FLOATS, pages, (state + (long) a * size) * Float.BYTES, ORDER);
            ofKey = numbers.fma(FloatVector.broadcast(FLOATS, stateKey[a]), ofKey);
            ofQuery = numbers.fma(FloatVector.broadcast(FLOATS, stateQuery[a]), ofQuery);
        }
        ofKey.mul(decay).intoArray(seen, column);
        ofQuery.mul(decay).intoArray(outputs, column);
    }

    private void sumBoth(MemorySegment pages, long state, int column, float decay) {
        long stride = (long) heads.valueSize() * Float.BYTES;
        long at = state * Float.BYTES;
        int vector = COUNT * Float.BYTES;
        FloatVector k0 = FloatVector.zero(FLOATS);
        FloatVector k1 = FloatVector.zero(FLOATS);
        FloatVector k2 = FloatVector.zero(FLOATS);
        FloatVector k3 = FloatVector.zero(FLOATS);
        FloatVector q0 = FloatVector.zero(FLOATS);
        FloatVector q1 = FloatVector.zero(FLOATS);
        FloatVector q2 = FloatVector.zero(FLOATS);
        FloatVector q3 = FloatVector.zero(FLOATS);
        for (int a = 0; a < heads.keySize(); a++) {
            FloatVector k = FloatVector.broadcast(FLOATS, stateKey[a]);
            FloatVector q = FloatVector.broadcast(FLOATS, stateQuery[a]);
            FloatVector s0 = FloatVector.fromMemorySegment(FLOATS, pages, at, ORDER);
            FloatVector s1 = FloatVector.fromMemorySegment(FLOATS, pages, at + vector, ORDER);
            FloatVector s2 = FloatVector.fromMemorySegment(FLOATS, pages, at + 2L * vector, ORDER);
            FloatVector s3 = FloatVector.fromMemorySegment(FLOATS, pages, at + 3L * vector, ORDER);
            k0 = s0.fma(k, k0);
            k1 = s1.fma(k, k1);
            k2 = s2.fma(k, k2);
            k3 = s3.fma(k, k3);
            q0 = s0.fma(q, q0);
            q1 = s1.fma(q, q1);
            q2 = s2.fma(q, q2);
            q3 = s3.fma(q, q3);
            at += stride;
        }
        k0.mul(decay).intoArray(seen, column);
        k1.mul(decay).intoArray(seen, column + COUNT);
        k2.mul(decay).intoArray(seen, column + 2 * COUNT);
        k3.mul(decay).intoArray(seen, column + 3 * COUNT);
        q0.mul(decay).intoArray(outputs, column);
        q1.mul(decay).intoArray(outputs, column + COUNT);
        q2.mul(decay).intoArray(outputs, column + 2 * COUNT);
        q3.mul(decay).intoArray(outputs, column + 3 * COUNT);
    }

    /** What the state of a state space says of the query alone, {@code decay} times. */
    private void sumState(MemorySegment pages, long state, float decay) {
        if (state < 0) {
            Arrays.fill(outputs, 0f);
            return;
        }
        int size = heads.valueSize();
        int column = 0;
        for (; column + BLOCK * COUNT <= size; column += BLOCK * COUNT) {
            sumBlock(pages, state + column, column, decay);
        }
        for (; column + COUNT <= size; column += COUNT) {
            FloatVector sum = FloatVector.zero(FLOATS);
            for (int a = 0; a < heads.keySize(); a++) {
                long at = (state + column + (long) a * size) * Float.BYTES;
                FloatVector numbers = FloatVector.fromMemorySegment(FLOATS, pages, at, ORDER);
                sum = numbers.fma(FloatVector.broadcast(FLOATS, query[a]), sum);
            }
            sum.mul(decay).intoArray(outputs, column);
        }
        for (; column < size; column++) {
            float sum = 0;
            for (int a = 0; a < heads.keySize(); a++) {
                sum = Math.fma(query[a], CpuBuffer.number(pages, state + (long) a * size + column), sum);
            }
            outputs[column] = sum * decay;
        }
    }

    private void sumBlock(MemorySegment pages, long state, int column, float decay) {
        long stride = (long) heads.valueSize() * Float.BYTES;
        long at = state * Float.BYTES;
        int vector = COUNT * Float.BYTES;
        FloatVector q0 = FloatVector.zero(FLOATS);
        FloatVector q1 = FloatVector.zero(FLOATS);
        FloatVector q2 = FloatVector.zero(FLOATS);
        FloatVector q3 = FloatVector.zero(FLOATS);
        for (int a = 0; a < heads.keySize(); a++) {
            FloatVector q = FloatVector.broadcast(FLOATS, query[a]);
            q0 = FloatVector.fromMemorySegment(FLOATS, pages, at, ORDER).fma(q, q0);
            q1 = FloatVector.fromMemorySegment(FLOATS, pages, at + vector, ORDER)
                    .fma(q, q1);
            q2 = FloatVector.fromMemorySegment(FLOATS, pages, at + 2L * vector, ORDER)
                    .fma(q, q2);
            q3 = FloatVector.fromMemorySegment(FLOATS, pages, at + 3L * vector, ORDER)
                    .fma(q, q3);
            at += stride;
        }
        q0.mul(decay).intoArray(outputs, column);
        q1.mul(decay).intoArray(outputs, column + COUNT);
        q2.mul(decay).intoArray(outputs, column + 2 * COUNT);
        q3.mul(decay).intoArray(outputs, column + 3 * COUNT);
    }

    /** Adds what the page's earlier values, each times its time, say of the query, then this token's and what goes past the state. */
    private void sumValues(int first, int token, float time, float skip) {
        int own = (first + token) * valueStride;
        for (int c = 0; c < valueStride; c += COUNT) {
            FloatVector sum = FloatVector.fromArray(FLOATS, outputs, c);
            for (int j = 0; j < token; j++) {
                FloatVector earlier = FloatVector.fromArray(FLOATS, corrections, (first + j) * valueStride + c);
                sum = earlier.fma(FloatVector.broadcast(FLOATS, queryWeights[j]), sum);
            }
            FloatVector value = FloatVector.fromArray(FLOATS, values, c);
            FloatVector timed = value.mul(time);
            timed.intoArray(corrections, own + c);
            sum = timed.fma(FloatVector.broadcast(FLOATS, queryScores[token]), sum);
            value.fma(FloatVector.broadcast(FLOATS, skip), sum).intoArray(outputs, c);
        }
    }

    private static float share(DeltaRules call, int row, int head) {
        return call.rule().strength() * VectorFunctions.sigmoid(number(call.b(), row, head));
    }

    /** Adds what the page's earlier corrections say, and from it makes this token's, {@code beta (v - seen)}, and its output. */
    private void sumCorrections(int first, int token, float beta) {
        int own = (first + token) * valueStride;
        for (int c = 0; c < valueStride; c += COUNT) {
            FloatVector ofKey = FloatVector.fromArray(FLOATS, seen, c);
            FloatVector ofQuery = FloatVector.fromArray(FLOATS, outputs, c);
            for (int j = 0; j < token; j++) {
                FloatVector correction = FloatVector.fromArray(FLOATS, corrections, (first + j) * valueStride + c);
                ofKey = correction.fma(FloatVector.broadcast(FLOATS, keyWeights[j]), ofKey);
                ofQuery = correction.fma(FloatVector.broadcast(FLOATS, queryWeights[j]), ofQuery);
            }
            FloatVector correction =
                    FloatVector.fromArray(FLOATS, values, c).sub(ofKey).mul(beta);
            correction.intoArray(corrections, own + c);
            correction
                    .fma(FloatVector.broadcast(FLOATS, queryScores[token]), ofQuery)
                    .intoArray(outputs, c);
        }
    }

    /** Writes a head's state behind a page: the one before it decayed, and each token's key times its correction. */
    private void endPage(MemorySegment pages, int i, long before, long behind) {
        int pageTokens = keyScores.length;
        int first = i * pageTokens;
        float total = sums[first + pageTokens - 1];
        boolean isByChannel = heads.decaysByChannel();
        float ofHead = VectorFunctions.exp(total);
        for (int j = 0; j < pageTokens; j++) {
            keyWeights[j] = isByChannel ? 1f : VectorFunctions.exp(total - sums[first + j]);
        }
        int size = heads.valueSize();
        for (int a = 0; a < heads.keySize(); a++) {
            float decay = isByChannel ? passed[a] : ofHead;
            for (int j = 0; j < pageTokens; j++) {
                queryWeights[j] = keyWeights[j] * keys[j * keyStride + a];
            }
            long row = (long) a * size;
            int c = 0;
            for (; c + COUNT <= size; c += COUNT) {
                endVector(pages, first, c, before < 0 ? -1 : before + row + c, behind + row + c, decay);
            }
            for (; c < size; c++) {
                float sum = before < 0 ? 0f : CpuBuffer.number(pages, before + row + c) * decay;
                for (int j = 0; j < pageTokens; j++) {
                    sum = Math.fma(corrections[(first + j) * valueStride + c], queryWeights[j], sum);
                }
                CpuBuffer.number(pages, behind + row + c, sum);
            }
        }
    }

    private void endVector(MemorySegment pages, int first, int c, long before, long behind, float decay) {
        FloatVector sum = FloatVector.zero(FLOATS);
        if (before >= 0) {
            sum = FloatVector.fromMemorySegment(FLOATS, pages, before * Float.BYTES, ORDER)
                    .mul(decay);
        }
        for (int j = 0; j < queryWeights.length; j++) {
            FloatVector correction = FloatVector.fromArray(FLOATS, corrections, (first + j) * valueStride + c);
            sum = correction.fma(FloatVector.broadcast(FLOATS, queryWeights[j]), sum);
        }
        sum.intoMemorySegment(pages, behind * Float.BYTES, ORDER);
    }
}
