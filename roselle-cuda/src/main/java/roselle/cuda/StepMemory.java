package roselle.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import roselle.backend.StepInputs;
import roselle.backend.StepLimits;

/**
 * What kernels know of a step, as one array of ints that goes to the device in one copy.
 *
 * <p>The places of its parts depend on the limits of {@link StepInputs} alone, so that a recorded step finds them where they
 * were. Page tables come last: only those of the sequences of a step travel.
 *
 * <p>On the device there is one such array, which the stream overwrites when it comes to the next step. On the host there are
 * two, used in turn, because the next step may be put together while the stream has not come to the copy of this one.
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
    private final Copy[] copies = new Copy[2];
    private final long address;
    private final Map<Integer, Tiles> tiles = new TreeMap<>();
    private StepInputs current;
    private int turn; // which of the two this step uses

    /** What is on its way to the device: memory that does not move, and when it may be overwritten. */
    private static final class Copy {
        final MemorySegment pinned;
        final long event;
        boolean inFlight;

        Copy(MemorySegment pinned, long event) {
            this.pinned = pinned;
            this.event = event;
        }
    }

    /** Bytes of device memory for steps within limits, but for tiles. */
    static long bytes(StepLimits limits, int groups) {
        long numbers = 5L * limits.maxRows()
                + limits.maxOutputs()
                + 2L * limits.maxSequences()
                + 1
                + (long) groups * limits.maxSequences() * limits.maxPages();
        return numbers * Integer.BYTES;
    }

    /** Bytes of device memory for the tiles of one number of rows in a tile. */
    static long tileBytes(StepLimits limits) {
        return 2L * limits.maxRows() * Integer.BYTES;
    }

    StepMemory(Device device, StepInputs inputs) {
        this.device = device;
        current = inputs;
        maxRows = inputs.tokenIds.length;
        maxSequences = inputs.contextLength.length;
        maxOutputs = inputs.outputRow.length;
        maxPages = inputs.maxPages;
        groups = inputs.pageTable.length;
        packed = new int[Math.toIntExact(pagesAt(groups, maxSequences))];
        for (int i = 0; i < copies.length; i++) {
            MemorySegment pinned = device.host().allocate((long) packed.length * Integer.BYTES);
            copies[i] = new Copy(pinned, device.host().createEvent());
        }
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

    private int drawnRowAt() {
        return 4 * maxRows;
    }

    private int outputRowAt() {
        return 5 * maxRows;
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

    /** The row of the draw before whose token a row takes. */
    long drawnRow() {
        return at(drawnRowAt());
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
        takeTurn();
        int rows = inputs.rows;
        System.arraycopy(inputs.tokenIds, 0, packed, tokenIdsAt(), rows);
        System.arraycopy(inputs.positions, 0, packed, positionsAt(), rows);
        System.arraycopy(inputs.drawnRow, 0, packed, drawnRowAt(), rows);
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
        copies[turn].inFlight = true;
        current = inputs;
        tiles.values().forEach(list -> list.count = 0);
    }

    /** Goes on to the other copy; waits where the stream may not have come to the end of the step that used it. */
    private void takeTurn() {
        if (copies[turn].inFlight) {
            device.driver().recordEvent(copies[turn].event, device.stream());
        }
        turn = 1 - turn;
        if (copies[turn].inFlight) {
            device.driver().awaitEvent(copies[turn].event);
            copies[turn].inFlight = false;
        }
    }

    /**
     * Sends the tiles of this step that have up to so many rows of one sequence, unless they are there already.
     *
     * @return how many there are
     */
    int sendTiles(int tileTokens, Launcher launcher) {
        Tiles list = reserveTiles(tileTokens);
        if (list.count == 0) {
            list.fill(current, tileTokens);
            launcher.barrier();
        }
        return list.count;
    }

    /** Takes the memory for tiles of up to so many rows. */
    Tiles reserveTiles(int tileTokens) {
        Tiles list = tiles.get(tileTokens);
        if (list == null) {
            list = new Tiles();
            tiles.put(tileTokens, list);
        }
        return list;
    }

    /** Pairs of a sequence and a first row: the tiles that {@link #sendTiles} sent. */
    long tiles(int tileTokens) {
        Tiles list = tiles.get(tileTokens);
        return list == null ? 0 : list.address;
    }

    /** The tiles of many-row attention for one number of rows in a tile. */
    final class Tiles {
        private final MemorySegment[] pinned = {allocate(), allocate()};
        private final long address = device.memory().allocate(2L * maxRows * Integer.BYTES);
        private int count;

        private MemorySegment allocate() {
            return device.host().allocate(2L * maxRows * Integer.BYTES);
        }

        private void fill(StepInputs inputs, int tileTokens) {
            for (int s = 0; s < inputs.sequences; s++) {
                for (int row = inputs.rowStart[s]; row < inputs.rowStart[s + 1]; row += tileTokens) {
                    pinned[turn].setAtIndex(JAVA_INT, 2L * count, s);
                    pinned[turn].setAtIndex(JAVA_INT, 2L * count + 1, row);
                    count++;
                }
            }
            device.driver().copyIn(address, pinned[turn], 2L * count * Integer.BYTES, device.stream());
        }
    }

    private void copyIn(int from, int count) {
        long offset = (long) from * Integer.BYTES;
        long bytes = (long) count * Integer.BYTES;
        MemorySegment pinned = copies[turn].pinned;
        MemorySegment.copy(packed, from, pinned, JAVA_INT, offset, count);
        device.driver().copyIn(address + offset, pinned.asSlice(offset, bytes), bytes, device.stream());
    }

    /** Tells that the stream has come to its end. */
    void arrived() {
        for (Copy copy : copies) {
            copy.inFlight = false;
        }
    }

    /** Gives back what the host shares with the device, where another takes its place. */
    void close() {
        for (Copy copy : copies) {
            device.host().free(copy.pinned);
            device.host().destroyEvent(copy.event);
        }
        for (Tiles list : tiles.values()) {
            device.host().free(list.pinned[0]);
            device.host().free(list.pinned[1]);
        }
        tiles.clear();
    }
}
