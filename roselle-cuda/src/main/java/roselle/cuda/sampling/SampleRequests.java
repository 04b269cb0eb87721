package roselle.cuda.sampling;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import roselle.backend.step.SamplingRows;
import roselle.cuda.layout.SampleRowLayout;

/**
 * What the kernel of {@code sample.cu} reads of {@link SamplingRows}, in host memory on its way to the device: a struct for each row,
 * the numbers of varying length one after the other, and masks that it has not got yet.
 */
final class SampleRequests {
    private static final long ROW_BYTES = SampleRowLayout.BYTES;
    private static final double NOT_WANTED = -1; // in place of a temperature

    private final MemorySegment structs;
    private final MemorySegment numbers;
    private final MemorySegment masks;
    private int length; // of the numbers

    /** Requests in host memory that the caller takes and gives back. */
    SampleRequests(MemorySegment structs, MemorySegment numbers, MemorySegment masks) {
        this.structs = structs;
        this.numbers = numbers;
        this.masks = masks;
    }

    MemorySegment structs() {
        return structs;
    }

    MemorySegment numbers() {
        return numbers;
    }

    MemorySegment masks() {
        return masks;
    }

    /** Bytes of the numbers that the rows filled last have. */
    long numberBytes() {
        return (long) length * Integer.BYTES;
    }

    /** Writes all rows; {@code address} is where the numbers will lie on the device, {@code deviceMasks} says it of masks. */
    void fill(SamplingRows rows, long address, DeviceMasks deviceMasks) {
        length = 0;
        deviceMasks.begin();
        structs.asSlice(0, rows.count * ROW_BYTES).fill((byte) 0);
        for (int row = 0; row < rows.count; row++) {
            long at = row * ROW_BYTES;
            if (rows.place[row] == SamplingRows.Place.DEVICE) {
                fillRow(rows, row, at);
                fillChanges(rows, row, at, address);
                if (rows.mask[row].length > 0) {
                    SampleRowLayout.MASK.set(structs, at, deviceMasks.place(rows.mask[row], masks));
                }
            } else {
                SampleRowLayout.TEMPERATURE.set(structs, at, NOT_WANTED);
            }
        }
    }

    private void fillRow(SamplingRows rows, int row, long at) {
        SampleRowLayout.TEMPERATURE.set(structs, at, rows.temperature[row]);
        SampleRowLayout.TOP_P.set(structs, at, rows.topP[row]);
        SampleRowLayout.MIN_P.set(structs, at, rows.minP[row]);
        SampleRowLayout.SEED.set(structs, at, rows.seed[row]);
        SampleRowLayout.POSITION.set(structs, at, rows.position[row]);
        SampleRowLayout.TOP_K.set(structs, at, rows.topK[row]);
        SampleRowLayout.TOP_LOGPROBS.set(structs, at, rows.topLogprobs[row]);
        SampleRowLayout.REPETITION.set(structs, at, rows.repetition[row]);
        SampleRowLayout.PRESENCE.set(structs, at, rows.presence[row]);
        SampleRowLayout.FREQUENCY.set(structs, at, rows.frequency[row]);
    }

    private void fillChanges(SamplingRows rows, int row, long at, long address) {
        if (rows.hasPenalties(row)) {
            int start = rows.historyStart(row);
            int seen = rows.position[row] - start;
            SampleRowLayout.PROMPT_LENGTH.set(structs, at, rows.answerStart(row) - start);
            SampleRowLayout.HISTORY_LENGTH.set(structs, at, seen);
            SampleRowLayout.HISTORY.set(structs, at, address + putIds(rows.history[row], start, seen));
        }
        int biases = rows.biasIds[row].length;
        if (biases > 0) {
            SampleRowLayout.BIAS_COUNT.set(structs, at, biases);
            SampleRowLayout.BIAS_IDS.set(structs, at, address + putIds(rows.biasIds[row], 0, biases));
            SampleRowLayout.BIASES.set(structs, at, address + numberBytes());
            MemorySegment.copy(rows.biases[row], 0, numbers, JAVA_FLOAT, numberBytes(), biases);
            length += biases;
        }
        int forbidden = rows.forbidden[row].length;
        if (forbidden > 0) {
            SampleRowLayout.STOP_COUNT.set(structs, at, forbidden);
            SampleRowLayout.STOP_IDS.set(structs, at, address + putIds(rows.forbidden[row], 0, forbidden));
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
