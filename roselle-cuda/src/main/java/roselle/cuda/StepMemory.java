package roselle.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import roselle.backend.StepInputs;

/**
 * What kernels know of a step, as one array of ints that goes to the device in one copy.
 *
 * <p>The places of its parts depend on the limits of {@link StepInputs} alone, so that a recorded step finds them where they
 * were. Page tables come last: only those of the sequences of a step travel.
 */
final class StepMemory {
    /** Positions of a split of few-row attention. */
    private static final int SPLIT = 128;

    private final Device device;
    private final int maxRows;
    private final int maxSequences;
    private final int maxOutputs;
    private final int maxPages;
    private final int groups;
    private final int[] packed;
    private final MemorySegment pinned;
    private final long address;
    private final Map<Integer, Tiles> tiles = new TreeMap<>();
    private StepInputs current;
    private boolean inFlight;

    StepMemory(Device device, StepInputs inputs) {
        this.device = device;
        current = inputs;
        maxRows = inputs.tokenIds.length;
        maxSequences = inputs.contextLength.length;
        maxOutputs = inputs.outputRow.length;
        maxPages = inputs.maxPages;
        groups = inputs.pageTable.length;
        packed = new int[Math.toIntExact(pagesAt(groups, maxSequences))];
        pinned = device.driver().allocatePinned((long) packed.length * Integer.BYTES);
        address = device.memory().allocate((long) packed.length * Integer.BYTES);
    }

    /** Whether it has the sizes of these inputs. */
    boolean fits(StepInputs inputs) {
        return maxRows == inputs.tokenIds.length
                && maxSequences == inputs.contextLength.length
                && maxOutputs == inputs.outputRow.length
                && maxPages == inputs.maxPages
                && groups == inputs.pageTable.length;
    }

    private int tokenIdsAt() {
        return 0;
    }

    private int positionsAt() {
        return maxRows;
    }

    private int rowSequenceAt() {
        return 2 * maxRows;
    }

    private int firstEntryAt() {
        return 3 * maxRows;
    }

    private int outputRowAt() {
        return 4 * maxRows;
    }

    private int rowStartAt() {
        return outputRowAt() + maxOutputs;
    }

    private int contextLengthAt() {
        return rowStartAt() + maxSequences + 1;
    }

    /** Where the tables of a group are when so many sequences' tables lie before it in each group. */
    private long pagesAt(int group, int sequences) {
        return contextLengthAt() + maxSequences + (long) group * sequences * maxPages;
    }

    long tokenIds() {
        return at(tokenIdsAt());
    }

    long positions() {
        return at(positionsAt());
    }

    /** The sequence of each row. */
    long rowSequence() {
        return at(rowSequenceAt());
    }

    /** Where a row's partial results of few-row attention begin. */
    long firstEntry() {
        return at(firstEntryAt());
    }

    long outputRow() {
        return at(outputRowAt());
    }

    long rowStart() {
        return at(rowStartAt());
    }

    long contextLength() {
        return at(contextLengthAt());
    }

    /** The page tables of a group, {@code [maxSequences, maxPages]}. */
    long pageTable(int group) {
        return at(Math.toIntExact(pagesAt(group, maxSequences)));
    }

    int maxPages() {
        return maxPages;
    }

    int maxRows() {
        return maxRows;
    }

    private long at(int index) {
        return address + (long) index * Integer.BYTES;
    }

    /** Sends a step to the device; kernels that the stream gets after it see it. */
    void send(StepInputs inputs) {
        if (inFlight) {
            device.synchronize(); // the last copy may still be reading what is overwritten here
        }
        int rows = inputs.rows;
        System.arraycopy(inputs.tokenIds, 0, packed, tokenIdsAt(), rows);
        System.arraycopy(inputs.positions, 0, packed, positionsAt(), rows);
        System.arraycopy(inputs.outputRow, 0, packed, outputRowAt(), inputs.outputs);
        System.arraycopy(inputs.rowStart, 0, packed, rowStartAt(), inputs.sequences + 1);
        System.arraycopy(inputs.contextLength, 0, packed, contextLengthAt(), inputs.sequences);
        int entry = 0;
        for (int s = 0; s < inputs.sequences; s++) {
            int end = inputs.rowStart[s + 1];
            Arrays.fill(packed, rowSequenceAt() + inputs.rowStart[s], rowSequenceAt() + end, s);
            for (int row = inputs.rowStart[s]; row < end; row++) {
                packed[firstEntryAt() + row] = entry;
                entry += inputs.positions[row] / SPLIT + 1;
            }
        }
        int table = inputs.sequences * maxPages;
        copyIn(0, contextLengthAt() + inputs.sequences);
        for (int group = 0; group < groups; group++) {
            int from = Math.toIntExact(pagesAt(group, maxSequences));
            System.arraycopy(inputs.pageTable[group], 0, packed, from, table);
            copyIn(from, table);
        }
        inFlight = true;
        current = inputs;
        tiles.values().forEach(list -> list.count = 0);
    }

    /**
     * Sends the tiles of this step that have up to so many rows of one sequence, unless they are there already.
     *
     * @return how many there are
     */
    int sendTiles(int tileTokens, Launcher launcher) {
        Tiles list = tiles.computeIfAbsent(tileTokens, unknown -> new Tiles());
        if (list.count == 0) {
            list.fill(current, tileTokens);
            launcher.barrier();
        }
        return list.count;
    }

    /** Pairs of a sequence and a first row: the tiles that {@link #sendTiles} sent. */
    long tiles(int tileTokens) {
        Tiles list = tiles.get(tileTokens);
        return list == null ? 0 : list.address;
    }

    /** The tiles of many-row attention for one number of rows in a tile. */
    private final class Tiles {
        private final MemorySegment pinned = device.driver().allocatePinned(2L * maxRows * Integer.BYTES);
        private final long address = device.memory().allocate(2L * maxRows * Integer.BYTES);
        private int count;

        private void fill(StepInputs inputs, int tileTokens) {
            for (int s = 0; s < inputs.sequences; s++) {
                for (int row = inputs.rowStart[s]; row < inputs.rowStart[s + 1]; row += tileTokens) {
                    pinned.setAtIndex(JAVA_INT, 2L * count, s);
                    pinned.setAtIndex(JAVA_INT, 2L * count + 1, row);
                    count++;
                }
            }
            device.driver().copyIn(address, pinned, 2L * count * Integer.BYTES, device.stream());
        }
    }

    private void copyIn(int from, int count) {
        long offset = (long) from * Integer.BYTES;
        long bytes = (long) count * Integer.BYTES;
        MemorySegment.copy(packed, from, pinned, JAVA_INT, offset, count);
        device.driver().copyIn(address + offset, pinned.asSlice(offset, bytes), bytes, device.stream());
    }

    /** Tells that the stream has come to its end. */
    void arrived() {
        inFlight = false;
    }

    void close() {
        device.driver().freePinned(pinned);
        tiles.values().forEach(list -> device.driver().freePinned(list.pinned));
        tiles.clear();
    }
}
