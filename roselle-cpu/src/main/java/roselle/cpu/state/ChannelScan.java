package roselle.cpu.state;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.operation.SelectiveScan;
import roselle.backend.step.StepInputs;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.VectorFunctions;

/**
 * A selective scan of some channels of a sequence ({@link roselle.backend.operation.Operations#selectiveScan}).
 *
 * <p><b>Order.</b> A state goes from token to token in the order of positions, each of its numbers by itself; the numbers of a state
 * are summed in ascending order. So nothing depends on where a step begins: a step that begins within a page goes through the page's
 * earlier tokens again, by what they left in their rows. <b>Memory.</b> Between the rows of a step the state is in this object; a page
 * that nobody keeps is computed in the memory of the next one that is kept ({@link StatePages}).
 */
final class ChannelScan {
    /** Channels of a block. */
    static final int BLOCK = 64;

    /** Below it the logarithm of one more is the number itself, less half its square. */
    private static final double SMALL = 1e-5;

    private final float[] biases = new float[BLOCK];
    private final float[] skips = new float[BLOCK];
    private final float[] x = new float[BLOCK];
    private final float[] times = new float[BLOCK];
    private final float[] timed = new float[BLOCK];
    private final float[] decays = new float[BLOCK];
    private final float[] outputs = new float[BLOCK];
    private float[] rates = {}; // [stateSize][BLOCK]
    private float[] state = {}; // [stateSize][BLOCK]
    private float[] b = {}; // [stateSize]
    private float[] c = {}; // [stateSize]
    private int stateSize;
    private int first; // of the channels
    private int count;

    void reserve(int size) {
        stateSize = size;
        if (b.length < size) {
            rates = new float[size * BLOCK];
            state = new float[size * BLOCK];
            b = new float[size];
            c = new float[size];
        }
    }

    /** All rows that a sequence has in a step, of the channels from one on. */
    void run(SelectiveScans call, int sequence, int channel) {
        SelectiveScan scan = call.scan();
        StepInputs inputs = call.inputs();
        first = channel;
        count = Math.min(BLOCK, scan.channels() - channel);
        read(scan.timeBias(), first, biases, 0);
        read(scan.skip(), first, skips, 0);
        for (int n = 0; n < stateSize; n++) {
            read(scan.rate(), (long) n * scan.channels() + first, rates, n * BLOCK);
        }
        int begin = inputs.rowStart[sequence];
        int end = inputs.rowStart[sequence + 1];
        int last = inputs.positions[Math.max(begin, end - 1)] / inputs.pageTokens;
        for (int r = begin; r < end; r++) {
            int index = inputs.positions[r] / inputs.pageTokens;
            int token = inputs.positions[r] % inputs.pageTokens;
            long page = StatePages.begin(inputs, call.cache(), scan.group(), scan.layer(), sequence, index, last);
            if (r == begin) {
                long before = index == 0
                        ? -1
                        : StatePages.begin(inputs, call.cache(), scan.group(), scan.layer(), sequence, index - 1, last);
                goOn(call, before, page, token);
            }
            row(call, r, token, page);
        }
    }

    /** The state behind the page before, and what the page's first tokens left since. */
    private void goOn(SelectiveScans call, long before, long page, int tokens) {
        SelectiveScan scan = call.scan();
        MemorySegment pages = call.cache().segment(scan.group());
        if (before < 0) {
            Arrays.fill(state, 0, stateSize * BLOCK, 0f);
        } else {
            for (int n = 0; n < stateSize; n++) {
                read(pages, before + stateAt(call, n), state, n * BLOCK, count);
            }
        }
        for (int j = 0; j < tokens; j++) {
            long row = page + (long) j * SelectiveScan.rowSize(scan.channels(), stateSize);
            read(pages, row + first, times, 0, count);
            read(pages, row + scan.channels() + first, timed, 0, count);
            read(pages, row + 2L * scan.channels(), b, 0, stateSize);
            advance();
        }
    }

    private void row(SelectiveScans call, int r, int token, long page) {
        SelectiveScan scan = call.scan();
        read(call.x(), r, first, x, count);
        read(call.times(), r, first, times, count);
        read(call.b(), r, 0, b, stateSize);
        read(call.c(), r, 0, c, stateSize);
        findTimes();
        MemorySegment pages = call.cache().segment(scan.group());
        long row = page + (long) token * SelectiveScan.rowSize(scan.channels(), stateSize);
        write(times, 0, pages, row + first, count);
        write(timed, 0, pages, row + scan.channels() + first, count);
        if (first == 0) {
            write(b, 0, pages, row + 2L * scan.channels(), stateSize);
        }
        advance();
        ask();
        long to = CpuBuffer.row(call.output(), r) + first;
        write(outputs, 0, CpuBuffer.of(call.output()), to, count);
        if (token == call.inputs().pageTokens - 1) {
            for (int n = 0; n < stateSize; n++) {
                write(state, n * BLOCK, pages, page + stateAt(call, n), count);
            }
        }
    }

    /** The times that a token takes, by channels, and what it brings. */
    private void findTimes() {
        for (int i = 0; i < count; i++) {
            times[i] += biases[i];
            decays[i] = -Math.abs(times[i]);
        }
        VectorFunctions.exp(decays, 0, BLOCK);
        for (int i = 0; i < count; i++) {
            double small = decays[i];
            double rest = small < SMALL ? small - small * small / 2 : Math.log(1 + small);
            times[i] = (float) (Math.max(times[i], 0) + rest);
            timed[i] = times[i] * x[i];
        }
    }

    private void advance() {
        for (int n = 0; n < stateSize; n++) {
            int at = n * BLOCK;
            for (int i = 0; i < BLOCK; i++) {
                decays[i] = rates[at + i] * times[i];
            }
            VectorFunctions.exp(decays, 0, BLOCK);
            float written = b[n];
            for (int i = 0; i < BLOCK; i++) {
                state[at + i] = decays[i] * state[at + i] + timed[i] * written;
            }
        }
    }

    private void ask() {
        for (int i = 0; i < BLOCK; i++) {
            outputs[i] = skips[i] * x[i];
        }
        for (int n = 0; n < stateSize; n++) {
            int at = n * BLOCK;
            float asked = c[n];
            for (int i = 0; i < BLOCK; i++) {
                outputs[i] += asked * state[at + i];
            }
        }
    }

    /** Where a number of the states of these channels lies, from the beginning of its page on. */
    private long stateAt(SelectiveScans call, int number) {
        int channels = call.scan().channels();
        long rows = (long) call.inputs().pageTokens * SelectiveScan.rowSize(channels, stateSize);
        return rows + (long) number * channels + first;
    }

    private void read(Buffer buffer, long from, float[] target, int at) {
        read(CpuBuffer.of(buffer), from, target, at, count);
    }

    private static void read(Rows rows, int row, int column, float[] target, int count) {
        read(CpuBuffer.of(rows), CpuBuffer.row(rows, row) + column, target, 0, count);
    }

    private static void read(MemorySegment segment, long from, float[] target, int at, int count) {
        MemorySegment.copy(segment, JAVA_FLOAT, from * Float.BYTES, target, at, count);
    }

    private static void write(float[] source, int at, MemorySegment segment, long to, int count) {
        MemorySegment.copy(source, at, segment, JAVA_FLOAT, to * Float.BYTES, count);
    }
}
