package roselle.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import roselle.backend.SamplingRows;

/**
 * What the kernel of {@code sample.cu} reads of {@link SamplingRows}, in host memory on its way to the device: a struct for each row,
 * and the numbers of varying length one after the other.
 */
final class SampleRequests {
    /** {@code struct SampleRow}. */
    private static final StructLayout ROW = MemoryLayout.structLayout(
            JAVA_DOUBLE.withName("temperature"),
            JAVA_DOUBLE.withName("topP"),
            JAVA_DOUBLE.withName("minP"),
            JAVA_LONG.withName("seed"),
            JAVA_LONG.withName("position"),
            ADDRESS.withName("history"),
            ADDRESS.withName("biasIds"),
            ADDRESS.withName("biases"),
            ADDRESS.withName("stopIds"),
            ADDRESS.withName("mask"),
            JAVA_INT.withName("topK"),
            JAVA_INT.withName("promptLength"),
            JAVA_INT.withName("historyLength"),
            JAVA_INT.withName("biasCount"),
            JAVA_INT.withName("stopCount"),
            JAVA_INT.withName("topLogprobs"),
            JAVA_INT.withName("appends"),
            JAVA_FLOAT.withName("repetition"),
            JAVA_FLOAT.withName("presence"),
            JAVA_FLOAT.withName("frequency"));

    static final long ROW_BYTES = ROW.byteSize();

    private static final long TEMPERATURE = offset("temperature");
    private static final long TOP_P = offset("topP");
    private static final long MIN_P = offset("minP");
    private static final long SEED = offset("seed");
    private static final long POSITION = offset("position");
    private static final long HISTORY = offset("history");
    private static final long BIAS_IDS = offset("biasIds");
    private static final long BIASES = offset("biases");
    private static final long STOP_IDS = offset("stopIds");
    private static final long MASK = offset("mask");
    private static final long TOP_K = offset("topK");
    private static final long PROMPT_LENGTH = offset("promptLength");
    private static final long HISTORY_LENGTH = offset("historyLength");
    private static final long BIAS_COUNT = offset("biasCount");
    private static final long STOP_COUNT = offset("stopCount");
    private static final long TOP_LOGPROBS = offset("topLogprobs");
    private static final long REPETITION = offset("repetition");
    private static final long PRESENCE = offset("presence");
    private static final long FREQUENCY = offset("frequency");

    private static final double NOT_WANTED = -1; // in place of a temperature

    private final MemorySegment structs;
    private final MemorySegment numbers;
    private int length; // of the numbers

    /** Requests in host memory that the caller takes and gives back. */
    SampleRequests(MemorySegment structs, MemorySegment numbers) {
        this.structs = structs;
        this.numbers = numbers;
    }

    private static long offset(String field) {
        return ROW.byteOffset(PathElement.groupElement(field));
    }

    MemorySegment structs() {
        return structs;
    }

    MemorySegment numbers() {
        return numbers;
    }

    /** Bytes of the numbers that the rows filled last have. */
    long numberBytes() {
        return (long) length * Integer.BYTES;
    }

    /** Writes all rows; {@code address} is where the numbers will lie on the device. */
    void fill(SamplingRows rows, long address) {
        length = 0;
        structs.asSlice(0, rows.count * ROW_BYTES).fill((byte) 0);
        for (int row = 0; row < rows.count; row++) {
            long at = row * ROW_BYTES;
            if (rows.place[row] == SamplingRows.Place.DEVICE) {
                fillRow(rows, row, at);
                fillChanges(rows, row, at, address);
            } else {
                structs.set(JAVA_DOUBLE, at + TEMPERATURE, NOT_WANTED);
            }
        }
    }

    private void fillRow(SamplingRows rows, int row, long at) {
        structs.set(JAVA_DOUBLE, at + TEMPERATURE, rows.temperature[row]);
        structs.set(JAVA_DOUBLE, at + TOP_P, rows.topP[row]);
        structs.set(JAVA_DOUBLE, at + MIN_P, rows.minP[row]);
        structs.set(JAVA_LONG, at + SEED, rows.seed[row]);
        structs.set(JAVA_LONG, at + POSITION, rows.position[row]);
        structs.set(JAVA_INT, at + TOP_K, rows.topK[row]);
        structs.set(JAVA_INT, at + TOP_LOGPROBS, rows.topLogprobs[row]);
        structs.set(JAVA_FLOAT, at + REPETITION, rows.repetition[row]);
        structs.set(JAVA_FLOAT, at + PRESENCE, rows.presence[row]);
        structs.set(JAVA_FLOAT, at + FREQUENCY, rows.frequency[row]);
    }

    private void fillChanges(SamplingRows rows, int row, long at, long address) {
        if (rows.hasPenalties(row)) {
            int start = rows.historyStart(row);
            int seen = rows.position[row] - start;
            structs.set(JAVA_INT, at + PROMPT_LENGTH, rows.promptLength[row] - start);
            structs.set(JAVA_INT, at + HISTORY_LENGTH, seen);
            structs.set(JAVA_LONG, at + HISTORY, address + putIds(rows.history[row], start, seen));
        }
        int biases = rows.biasIds[row].length;
        if (biases > 0) {
            structs.set(JAVA_INT, at + BIAS_COUNT, biases);
            structs.set(JAVA_LONG, at + BIAS_IDS, address + putIds(rows.biasIds[row], 0, biases));
            structs.set(JAVA_LONG, at + BIASES, address + numberBytes());
            MemorySegment.copy(rows.biases[row], 0, numbers, JAVA_FLOAT, numberBytes(), biases);
            length += biases;
        }
        int forbidden = rows.forbidden[row].length;
        if (forbidden > 0) {
            structs.set(JAVA_INT, at + STOP_COUNT, forbidden);
            structs.set(JAVA_LONG, at + STOP_IDS, address + putIds(rows.forbidden[row], 0, forbidden));
        }
        int words = rows.mask[row].length;
        if (words > 0) {
            length += length % 2; // words of 64 bits
            structs.set(JAVA_LONG, at + MASK, address + numberBytes());
            MemorySegment.copy(rows.mask[row], 0, numbers, JAVA_LONG, numberBytes(), words);
            length += 2 * words;
        }
    }

    /** Appends ids; returns how many bytes lie before them. */
    private long putIds(int[] ids, int from, int count) {
        long before = numberBytes();
        MemorySegment.copy(ids, from, numbers, JAVA_INT, before, count);
        length += count;
        return before;
    }
}
