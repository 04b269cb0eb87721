package roselle.cuda.sampling;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.IdentityHashMap;
import org.jspecify.annotations.Nullable;
import roselle.cuda.memory.Gpu;

/**
 * Masks of rows in device memory. A mask is brought once, and rows of this and of later steps that have the same one share it; equal
 * masks of a vocabulary are one object, so that objects are compared. Where all places are taken, those go in turn that this step has
 * no use for.
 */
final class DeviceMasks {
    /** Places beyond one for each row of a step: for masks that come back. */
    private static final int MORE_PLACES = 256;

    private static final long ALIGNMENT = 256;

    private final Gpu device;
    private final long maskBytes;
    private final long address;
    private final long[] @Nullable [] held; // by place
    private final int[] usedBy; // the step that had use for a place last
    private final int[] brought; // places whose masks are on their way to the host's piece, in order
    private final IdentityHashMap<long[], Integer> places = new IdentityHashMap<>();
    private int broughtCount;
    private int next; // the place that goes next
    private int step;

    /** Takes device memory for masks of steps of so many rows over so many tokens. */
    DeviceMasks(Gpu device, int rows, int vocabulary) {
        this.device = device;
        maskBytes = maskBytes(vocabulary);
        held = new long[rows + MORE_PLACES][];
        usedBy = new int[held.length];
        brought = new int[rows];
        address = device.memory().allocateScratch(deviceBytes(rows, vocabulary));
    }

    private static long maskBytes(int vocabulary) {
        long words = Math.ceilDiv((long) vocabulary, Long.SIZE);
        return Math.ceilDiv(words * Long.BYTES, ALIGNMENT) * ALIGNMENT;
    }

    /** Bytes of device memory for steps of so many rows. */
    static long deviceBytes(long rows, int vocabulary) {
        return (rows + MORE_PLACES) * maskBytes(vocabulary);
    }

    /** Bytes of the host's memory that masks of a step take on their way, at most. */
    static long hostBytes(long rows, int vocabulary) {
        return rows * maskBytes(vocabulary);
    }

    /** Begins a step, whose masks go to the device by {@link #bring}. */
    void begin() {
        step++;
        broughtCount = 0;
    }

    /** Where a mask of the step lies on the device, or will; it goes through {@code staging}, which has room for one of each row. */
    long place(long[] mask, MemorySegment staging) {
        Integer found = places.get(mask);
        int place = found == null ? take(mask, staging) : found;
        usedBy[place] = step;
        return address + place * maskBytes;
    }

    private int take(long[] mask, MemorySegment staging) {
        while (usedBy[next] == step) {
            next = (next + 1) % held.length;
        }
        int place = next;
        next = (next + 1) % held.length;
        long[] before = held[place];
        if (before != null) {
            places.remove(before);
        }
        held[place] = mask;
        places.put(mask, place);
        MemorySegment target = staging.asSlice(broughtCount * maskBytes, maskBytes);
        long bytes = (long) mask.length * Long.BYTES;
        MemorySegment.copy(mask, 0, target, JAVA_LONG, 0, mask.length);
        target.asSlice(bytes).fill((byte) 0);
        brought[broughtCount++] = place;
        return place;
    }

    /** Copies what the step has that was not there, in the order of the device's stream, behind all that reads the masks before. */
    void bring(MemorySegment staging) {
        for (int first = 0; first < broughtCount; ) {
            int end = first + 1;
            while (end < broughtCount && brought[end] == brought[end - 1] + 1) {
                end++;
            }
            long bytes = (end - first) * maskBytes;
            MemorySegment source = staging.asSlice(first * maskBytes, bytes);
            device.driver().copyIn(address + brought[first] * maskBytes, source, bytes, device.stream());
            first = end;
        }
    }

    /** Has no mask any more: what the device's memory held is gone. */
    void forget() {
        places.clear();
        Arrays.fill(held, null);
    }
}
