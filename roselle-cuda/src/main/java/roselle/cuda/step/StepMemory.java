package roselle.cuda.step;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cuda.kernel.AttentionTiling;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.layout.RowTileLayout;
import roselle.cuda.memory.CudaAdapter;
import roselle.cuda.memory.Gpu;

/**
 * What kernels know of a step, as one array of ints that a kernel brings to the device from the host's memory.
 *
 * <p>The places of its parts depend on the step's {@link StepShape} alone, so that a recorded step finds them where they were,
 * and no more travels than the step has. Page tables come last.
 *
 * <p>On the device there is one such array, which the stream overwrites when it comes to the next step. On the host there are
 * two, used in turn, because the next step may be put together while the stream has not come to this one.
 */
public final class StepMemory {
    private static final int PART = 4; // numbers at whose multiples parts begin
    private static final int MIN_TABLE_PAGES = 16;
    private static final int TABLE_GROWTH = 4;

    private final Gpu device;
    private final int maxRows;
    private final int maxSequences;
    private final int maxOutputs;
    private final int maxPages;
    private final int groups;
    private final int[] header; // all but the tables
    private final Copy[] copies = new Copy[2];
    private final long address;
    private final Map<Integer, Tiles> tiles = new TreeMap<>();
    private StepInputs current;
    private StepShape shape = StepShape.NONE;
    private int rows; // of this step, in whole parts
    private int places; // for sequences
    private int tablePages;
    private int outputRowAt;
    private int rowStartAt;
    private int contextLengthAt;
    private int adaptersAt;
    private int pagesAt;
    private int numbers; // of this step, page tables included
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
    public static long bytes(StepLimits limits, int groups) {
        int header = headerNumbers(limits.maxRows(), limits.maxOutputs(), limits.maxSequences());
        return (header + (long) groups * limits.maxSequences() * limits.maxPages()) * Integer.BYTES;
    }

    private static int headerNumbers(int rows, int outputs, int sequences) {
        return 6 * aligned(rows) + aligned(2 * rows) + aligned(outputs) + aligned(sequences + 1) + aligned(sequences);
    }

    /** Bytes of device memory for the tiles of one number of rows in a tile. */
    public static long tileBytes(StepLimits limits) {
        return limits.maxRows() * RowTileLayout.BYTES;
    }

    public StepMemory(Gpu device, StepInputs inputs) {
        this.device = device;
        current = inputs;
        maxRows = inputs.tokenIds.length;
        maxSequences = inputs.contextLength.length;
        maxOutputs = inputs.outputRow.length;
        maxPages = inputs.maxPages;
        groups = inputs.pageTable.length;
        int headerNumbers = headerNumbers(maxRows, maxOutputs, maxSequences);
        long numbers = Math.toIntExact(headerNumbers + (long) groups * maxSequences * maxPages);
        header = new int[headerNumbers];
        for (int i = 0; i < copies.length; i++) {
            MemorySegment pinned = device.host().allocate(numbers * Integer.BYTES);
            copies[i] = new Copy(pinned, device.host().createEvent());
        }
        address = device.memory().allocate(numbers * Integer.BYTES);
    }

    /** Whether it has the sizes of these inputs. */
    public boolean fits(StepInputs inputs) {
        return maxRows == inputs.tokenIds.length
                && maxSequences == inputs.contextLength.length
                && maxOutputs == inputs.outputRow.length
                && maxPages == inputs.maxPages
                && groups == inputs.pageTable.length;
    }

    /** Settles where the parts of a step lie: its rows and outputs, who attends how, and the longest sequence decide. */
    private void arrange(StepInputs inputs, int adaptation) {
        rows = aligned(inputs.rows);
        tablePages = tablePages(inputs);
        shape = StepShape.of(inputs.rows, inputs.sequences, inputs.outputs, tablePages, adaptation);
        // a recorded step may come with other numbers of sequences, but of no more than rows
        places = shape.isFew() ? Math.min(inputs.rows, maxSequences) : inputs.sequences;
        outputRowAt = 6 * rows;
        rowStartAt = outputRowAt + aligned(inputs.outputs);
        contextLengthAt = rowStartAt + aligned(places + 1);
        adaptersAt = contextLengthAt + aligned(places);
        pagesAt = adaptersAt + (adaptation == 0 ? 0 : aligned(2 * inputs.rows));
    }

    /** Pages that the table of each sequence has room for: steps of several lengths have one number, so that they share graphs. */
    private int tablePages(StepInputs inputs) {
        int longest = 0;
        for (int s = 0; s < inputs.sequences; s++) {
            longest = Math.max(longest, pages(inputs, s));
        }
        long room = MIN_TABLE_PAGES;
        while (room < longest) {
            room *= TABLE_GROWTH;
        }
        return (int) Math.min(room, maxPages);
    }

    /** Pages of a sequence up to the end of this step. */
    private static int pages(StepInputs inputs, int s) {
        int end = inputs.contextLength[s] + inputs.rowStart[s + 1] - inputs.rowStart[s];
        return (end + inputs.pageTokens - 1) / inputs.pageTokens;
    }

    private static int aligned(int numbers) {
        return (numbers + PART - 1) / PART * PART;
    }

    /** What the launches of this step depend on. */
    public StepShape shape() {
        return shape;
    }

    public long tokenIds() {
        return at(0);
    }

    public long positions() {
        return at(rows);
    }

    /** The sequence of each row. */
    public long rowSequence() {
        return at(2 * rows);
    }

    /** Where the partial results of each row begin, in splits. */
    public long firstEntry() {
        return at(3 * rows);
    }

    /** Where it begins to say, for each row, the row of logits whose sampled token it takes; −1 for its token id. */
    public int sampledRowAt() {
        return 4 * rows;
    }

    /** Where this step lies on the host until the stream has come to its end. */
    public long source() {
        return copies[turn].pinned.address();
    }

    /** How many numbers it has, from {@link #tokenIds} on. */
    public int numbers() {
        return numbers;
    }

    /** Which text of a pair each row is of. */
    public long types() {
        return at(5 * rows);
    }

    public long outputRow() {
        return at(outputRowAt);
    }

    public long rowStart() {
        return at(rowStartAt);
    }

    public long contextLength() {
        return at(contextLengthAt);
    }

    /** The address of each row's adapter, where the step has any. */
    public long adapters() {
        return at(adaptersAt);
    }

    /** The page tables of a group, {@code [sequences, tablePages]}. */
    public long pageTable(int group) {
        return at(pagesAt + group * places * tablePages);
    }

    /** Pages from one sequence's table to the next one's. */
    public int maxPages() {
        return tablePages;
    }

    /** Sequences that there is room for: in a step that is not of few rows, those that it has. */
    public int sequences() {
        return places;
    }

    public int maxRows() {
        return maxRows;
    }

    private long at(int index) {
        return address + (long) index * Integer.BYTES;
    }

    /**
     * Puts a step together where the device finds it, {@link #source}: a kernel that the stream gets next has to bring it.
     *
     * @param adaptation what is known of adapters, as a number; 0 where the step has none
     */
    public void put(StepInputs inputs, int adaptation) {
        takeTurn();
        arrange(inputs, adaptation);
        System.arraycopy(inputs.tokenIds, 0, header, 0, inputs.rows);
        System.arraycopy(inputs.positions, 0, header, rows, inputs.rows);
        System.arraycopy(inputs.sampledRow, 0, header, 4 * rows, inputs.rows);
        System.arraycopy(inputs.types, 0, header, 5 * rows, inputs.rows);
        System.arraycopy(inputs.outputRow, 0, header, outputRowAt, inputs.outputs);
        System.arraycopy(inputs.rowStart, 0, header, rowStartAt, inputs.sequences + 1);
        System.arraycopy(inputs.contextLength, 0, header, contextLengthAt, inputs.sequences);
        int entry = 0;
        for (int s = 0; s < inputs.sequences; s++) {
            int end = inputs.rowStart[s + 1];
            Arrays.fill(header, 2 * rows + inputs.rowStart[s], 2 * rows + end, s);
            for (int row = inputs.rowStart[s]; row < end; row++) {
                header[3 * rows + row] = entry;
                entry += inputs.positions[row] / AttentionTiling.SPLIT + 1;
            }
        }
        if (adaptation != 0) {
            putAdapters(inputs);
        }
        MemorySegment pinned = copies[turn].pinned;
        MemorySegment.copy(header, 0, pinned, JAVA_INT, 0, pagesAt);
        numbers = copyTables(inputs, pinned);
        copies[turn].inFlight = true;
        current = inputs;
        tiles.values().forEach(list -> list.count = 0);
    }

    private void putAdapters(StepInputs inputs) {
        for (int s = 0; s < inputs.sequences; s++) {
            long adapter = inputs.adapter[s] instanceof CudaAdapter known ? known.address() : 0;
            for (int row = inputs.rowStart[s]; row < inputs.rowStart[s + 1]; row++) {
                header[adaptersAt + 2 * row] = (int) adapter;
                header[adaptersAt + 2 * row + 1] = (int) (adapter >>> Integer.SIZE);
            }
        }
    }

    /** Copies the pages that each sequence has; returns where the last table ends. */
    private int copyTables(StepInputs inputs, MemorySegment pinned) {
        int end = pagesAt;
        for (int s = 0; s < inputs.sequences; s++) {
            int count = pages(inputs, s);
            for (int group = 0; group < groups; group++) {
                int from = pagesAt + (group * places + s) * tablePages;
                MemorySegment.copy(
                        inputs.pageTable[group], s * maxPages, pinned, JAVA_INT, (long) from * Integer.BYTES, count);
                end = Math.max(end, from + count);
            }
        }
        return end;
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
    public int sendTiles(int tileTokens, Launcher launcher) {
        Tiles list = reserveTiles(tileTokens);
        if (list.count == 0) {
            list.fill(current, tileTokens);
            launcher.barrier();
        }
        return list.count;
    }

    /** Takes the memory for tiles of up to so many rows. */
    public Tiles reserveTiles(int tileTokens) {
        Tiles list = tiles.get(tileTokens);
        if (list == null) {
            list = new Tiles();
            tiles.put(tileTokens, list);
        }
        return list;
    }

    /** Pairs of a sequence and a first row: the tiles that {@link #sendTiles} sent. */
    public long tiles(int tileTokens) {
        Tiles list = tiles.get(tileTokens);
        return list == null ? 0 : list.address;
    }

    /** The tiles of many-row attention for one number of rows in a tile. */
    public final class Tiles {
        private final MemorySegment[] pinned = {allocate(), allocate()};
        private final long address = device.memory().allocate(maxRows * RowTileLayout.BYTES);
        private int count;

        private MemorySegment allocate() {
            return device.host().allocate(maxRows * RowTileLayout.BYTES);
        }

        private void fill(StepInputs inputs, int tileTokens) {
            for (int s = 0; s < inputs.sequences; s++) {
                for (int row = inputs.rowStart[s]; row < inputs.rowStart[s + 1]; row += tileTokens) {
                    long begin = count * RowTileLayout.BYTES;
                    RowTileLayout.SEQUENCE.set(pinned[turn], begin, s);
                    RowTileLayout.FIRST_ROW.set(pinned[turn], begin, row);
                    count++;
                }
            }
            device.driver().copyIn(address, pinned[turn], count * RowTileLayout.BYTES, device.stream());
        }
    }

    /** Tells that the stream has come to its end. */
    public void arrived() {
        for (Copy copy : copies) {
            copy.inFlight = false;
        }
    }

    /** Gives back what the host shares with the device, where another takes its place. */
    public void close() {
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
