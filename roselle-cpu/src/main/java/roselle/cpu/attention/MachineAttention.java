package roselle.cpu.attention;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.cpu.format.Unpacked;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.machine.panel.TileKernels;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.memory.Step;
import roselle.tensor.DataType;

/**
 * One thread's part of attention whose products are those of machine code.
 *
 * <p>A tile of keys becomes panels whose outputs are positions, a tile of values panels whose k is positions; what is not
 * there is zero. Entries, which are rows times the query heads of a key head, multiply them as activations do weights, so a
 * row's bits depend on its own positions alone. The softmax between the two is an online one, as in {@link Attention}, but
 * a tile's values are summed first and then added. {@link PanelAttention} is the scalar twin.
 */
public final class MachineAttention {
    private static final int TILE = AttentionCall.TILE;
    private static final int ENTRIES = PagedAttention.ENTRIES;
    private static final int TILE_PANELS = TILE / Panel.OUTPUTS;

    /** Kernels of a precision, and this thread's way to call them. */
    private record Code(TileKernels tiles, EntryGemm products, TileKernels.Call panels) {
        long rowBytes(int columns) {
            return (long) columns * tiles.compute().bytes();
        }
    }

    private final MachineCode machine;
    private final Arena arena;
    private final Map<Compute, Code> codes = new EnumMap<>(Compute.class);
    private final EntrySoftmax softmax;
    private final Unpacked scratch = new Unpacked();
    private float[] decoded = new float[0]; // a tile's keys or values at most, of codes
    private MemorySegment sums = MemorySegment.NULL; // [entries][valueSize]
    private MemorySegment partial = MemorySegment.NULL; // the same of a tile
    private final float[] scores = new float[TILE]; // of an entry, where distances count
    private final int[] firsts = new int[PagedAttention.MOST_ROWS]; // the first position that each row sees
    private final int[] ends = new int[PagedAttention.MOST_ROWS]; // and that behind the last
    private MemorySegment queries = MemorySegment.NULL; // [entries][keySize], converted
    private MemorySegment weights = MemorySegment.NULL; // [entries][TILE], converted
    private MemorySegment numbers = MemorySegment.NULL; // [entries][TILE]: scores, then weights; before, keys or values
    private MemorySegment keyRows = MemorySegment.NULL; // [TILE][keySize], converted
    private MemorySegment keyPanels = MemorySegment.NULL;
    private MemorySegment valueRows = MemorySegment.NULL; // [TILE][valueSize], converted
    private MemorySegment seenRows = MemorySegment.NULL; // those of one row's positions
    private MemorySegment valuePanels = MemorySegment.NULL;

    public MachineAttention(MachineCode machine, Arena arena) {
        this.machine = machine;
        this.arena = arena;
        softmax = new EntrySoftmax(ENTRIES, machine.rows());
        for (Compute compute : Compute.values()) {
            if (machine.attends(compute)) {
                TileKernels tiles = machine.tiles(compute);
                codes.put(compute, new Code(tiles, new EntryGemm(machine, compute), tiles.call()));
            }
        }
    }

    /** Whether it attends in a group: its heads are whole vectors and values are stored by themselves. */
    static boolean takes(KvGroup group) {
        return group.valueSize() != 0
                && group.keySize() % TileKernels.COLUMNS == 0
                && group.valueSize() % TileKernels.COLUMNS == 0;
    }

    /** Makes room for heads of a size. */
    void reserve(int keySize, int valueSize) {
        long keyBytes = (long) keySize * Float.BYTES;
        long valueBytes = (long) valueSize * Float.BYTES;
        sums = atLeast(sums, ENTRIES * valueBytes);
        partial = atLeast(partial, ENTRIES * valueBytes);
        queries = atLeast(queries, ENTRIES * keyBytes);
        weights = atLeast(weights, (long) ENTRIES * TILE * Float.BYTES);
        numbers = atLeast(numbers, numberBytes(keySize, valueSize));
        if (decoded.length < TILE * Math.max(keySize, valueSize)) {
            decoded = new float[TILE * Math.max(keySize, valueSize)];
        }
        keyRows = atLeast(keyRows, TILE * keyBytes);
        keyPanels = atLeast(keyPanels, TILE * keyBytes);
        valueRows = atLeast(valueRows, TILE * valueBytes);
        seenRows = atLeast(seenRows, TILE * valueBytes);
        valuePanels = atLeast(valuePanels, TILE * valueBytes);
    }

    /** Bytes of native memory that heads of these sizes take. */
    static long bytes(int keySize, int valueSize) {
        long keyBytes = (long) keySize * Float.BYTES;
        long valueBytes = (long) valueSize * Float.BYTES;
        long tileBytes = (long) TILE * Float.BYTES;
        return ENTRIES * (keyBytes + 2 * valueBytes + tileBytes)
                + numberBytes(keySize, valueSize)
                + TILE * (2 * keyBytes + 3 * valueBytes);
    }

    /** Bytes of scores of all entries, or of a tile's keys or values. */
    private static long numberBytes(int keySize, int valueSize) {
        return Math.max(ENTRIES, Math.max(keySize, valueSize)) * (long) TILE * Float.BYTES;
    }

    /** Bytes of native memory that were taken. */
    long bytes() {
        return queries.byteSize()
                + weights.byteSize()
                + numbers.byteSize()
                + sums.byteSize()
                + partial.byteSize()
                + keyRows.byteSize()
                + keyPanels.byteSize()
                + valueRows.byteSize()
                + seenRows.byteSize()
                + valuePanels.byteSize();
    }

    private MemorySegment atLeast(MemorySegment segment, long bytes) {
        return segment.byteSize() < bytes ? arena.allocate(bytes, 64) : segment;
    }

    /** Attends with the rows {@code row} until {@code endRow} and query heads that share a key head. */
    public void run(AttentionCall call, int sequence, int row, int endRow, int head, int endHead) {
        Step now = call.step();
        AttentionLayer kind = call.layer();
        CpuKvCache pages = call.cache();
        Code code = Objects.requireNonNull(codes.get(machine.attention()));
        begin(code, call.query(), kind, row, endRow, head, endHead);
        for (int r = row; r < endRow; r++) {
            firsts[r - row] = call.first(r);
            ends[r - row] = call.end(r);
        }
        int rows = endRow - row;
        int lowest = firsts[0];
        int end = ends[rows - 1];
        int heads = endHead - head;
        for (int tile = lowest / TILE * TILE; tile < end; tile += TILE) {
            int from = Math.max(tile, lowest);
            int to = Math.min(tile + TILE, end);
            int first = 0;
            while (ends[first] <= tile) {
                first++;
            }
            int last = rows;
            while (firsts[last - 1] >= tile + TILE) {
                last--;
            }
            boolean seesLess = ends[first] < to || firsts[last - 1] > from;
            if (to - from == TILE && !seesLess && areInPanels(pages, kind.group())) {
                loadWhole(code, call, sequence, head, tile, end);
            } else {
                load(code, now, kind, pages, sequence, head, tile, from, to);
            }
            code.products.multiply(
                    queries, kind.heads().keySize(), keyPanels, TILE_PANELS, first * heads, last * heads, numbers);
            for (int r = first; r < last; r++) {
                int fromPosition = Math.max(tile, firsts[r]);
                int toPosition = Math.min(tile + TILE, ends[r]);
                for (int h = 0; h < heads; h++) {
                    softmax.sees(r * heads + h, fromPosition - tile, toPosition - tile);
                }
                if (call.hasDistances()) {
                    addDistances(call, row + r, r * heads, head, endHead, tile, fromPosition, toPosition);
                }
            }
            softmax.soften(numbers, first * heads, last * heads, kind.scale(), kind.softCap());
            if (seesLess && !isFinite(code, kind, from - tile, to - tile)) {
                addEach(code, kind, tile, first, last, heads);
            } else {
                add(code, kind, first * heads, last * heads);
            }
        }
        end(call.output(), kind.heads().valueSize(), row, endRow, head, endHead);
    }

    /** Adds what distances add to the scores of a row's entries, of the positions {@code from} until {@code to}. */
    private void addDistances(
            AttentionCall call, int row, int entry, int head, int endHead, int tile, int from, int to) {
        for (int h = head; h < endHead; h++) {
            long at = ((long) (entry + h - head) * TILE + from - tile) * Float.BYTES;
            MemorySegment.copy(numbers, JAVA_FLOAT, at, scores, 0, to - from);
            call.addDistances(row, h, from, to, scores, 0);
            MemorySegment.copy(scores, 0, numbers, JAVA_FLOAT, at, to - from);
        }
    }

    private void begin(Code code, Rows from, AttentionLayer kind, int row, int endRow, int head, int endHead) {
        int size = kind.heads().keySize();
        int heads = endHead - head;
        MemorySegment sinks = kind.sinks() == null ? null : CpuBuffer.of(kind.sinks());
        int i = 0;
        for (int r = row; r < endRow; r++) {
            long at = (CpuBuffer.row(from, r) + (long) head * size) * Float.BYTES;
            long target = queries.address() + i * code.rowBytes(size);
            code.panels.convert(DataType.F32, CpuBuffer.of(from).address() + at, target, heads * size);
            for (int h = head; h < endHead; h++) {
                if (sinks == null) {
                    softmax.begin(i);
                } else {
                    softmax.begin(i, CpuBuffer.number(sinks, h));
                }
                i++;
            }
        }
        sums.asSlice(0, (long) i * kind.heads().valueSize() * Float.BYTES).fill((byte) 0);
    }

    /** Whether numbers of which panels are made lie in pages as they are, those of a panel in one page. */
    private static boolean areInPanels(CpuKvCache pages, int group) {
        return !pages.stored(group).isCoded() && pages.pageTokens() % Panel.OUTPUTS == 0;
    }

    /** Brings keys and values of all of a tile's positions from their pages into panels, and those of the next tile nearer. */
    private void loadWhole(Code code, AttentionCall call, int sequence, int head, int tile, int end) {
        AttentionLayer kind = call.layer();
        CpuKvCache pages = call.cache();
        int group = kind.group();
        int keySize = kind.heads().keySize();
        int keyHead = head * kind.heads().keyHeads() / kind.heads().queryHeads();
        DataType type = pages.stored(group).plain();
        long from = pages.segment(group).address();
        long keyPanelBytes = code.tiles.panel().bytes(keySize);
        long valuePanelBytes = code.tiles.panel().bytes(TILE);
        int last = (end - 1) / Panel.OUTPUTS * Panel.OUTPUTS;
        for (int n = 0; n < TILE_PANELS; n++) {
            int p = tile + n * Panel.OUTPUTS;
            int page = call.step().page(group, sequence, p);
            int token = p % pages.pageTokens();
            int next = Math.min(p + TILE, last);
            int nextPage = call.step().page(group, sequence, next);
            int nextToken = next % pages.pageTokens();
            long keys = from + pages.keyAt(group, kind.layer(), page, keyHead, token);
            code.panels.fetch(from + pages.keyAt(group, kind.layer(), nextPage, keyHead, nextToken));
            code.panels.keys(type, keys, keySize, keyPanels.address() + n * keyPanelBytes);
            long values = from + pages.valueAt(group, kind.layer(), page, keyHead, token);
            long target = valuePanels.address() + code.tiles.rowAt(n * Panel.OUTPUTS);
            code.panels.fetch(from + pages.valueAt(group, kind.layer(), nextPage, keyHead, nextToken));
            code.panels.values(type, values, Panel.OUTPUTS, kind.heads().valueSize(), target, valuePanelBytes);
        }
    }

    /** Brings keys and values of the positions {@code from} until {@code to} into panels, by way of rows. */
    private void load(
            Code code,
            Step now,
            AttentionLayer kind,
            CpuKvCache pages,
            int sequence,
            int head,
            int tile,
            int from,
            int to) {
        int group = kind.group();
        int keySize = kind.heads().keySize();
        int valueSize = kind.heads().valueSize();
        int keyHead = head * kind.heads().keyHeads() / kind.heads().queryHeads();
        int bytes = code.tiles.compute().bytes();
        int p = from;
        while (p < to) {
            int page = now.page(group, sequence, p);
            int token = p % pages.pageTokens();
            int count = Math.min(pages.pageTokens() - token, to - p);
            long keys = pages.keyAt(group, kind.layer(), page, keyHead, token);
            long keyScales = pages.keyScalesAt(group, kind.layer(), page, keyHead, token);
            long keyTo = keyRows.address() + (long) (p - tile) * keySize * bytes;
            convert(code, pages, group, keys, keyScales, keySize, count, keyTo);
            long values = pages.valueAt(group, kind.layer(), page, keyHead, token);
            long valueScales = pages.valueScalesAt(group, kind.layer(), page, keyHead, token);
            long valueTo = valueRows.address() + (long) (p - tile) * valueSize * bytes;
            convert(code, pages, group, values, valueScales, valueSize, count, valueTo);
            p += count;
        }
        long rowBytes = (long) valueSize * bytes;
        valueRows.asSlice(0, (from - tile) * rowBytes).fill((byte) 0);
        valueRows.asSlice((to - tile) * rowBytes, (tile + TILE - to) * rowBytes).fill((byte) 0);
        for (int n = 0; n < TILE_PANELS; n++) {
            long rows = keyRows.address() + (long) n * Panel.OUTPUTS * keySize * bytes;
            long panel = keyPanels.address() + n * code.tiles.panel().bytes(keySize);
            code.panels.keys(code.tiles.type(), rows, keySize, panel);
        }
        weighable(code, valueRows, valueSize);
    }

    /** Brings rows of a whole tile's values into panels. */
    private void weighable(Code code, MemorySegment rows, int size) {
        long panelBytes = code.tiles.panel().bytes(TILE);
        code.panels.values(code.tiles.type(), rows.address(), TILE, size, valuePanels.address(), panelBytes);
    }

    /** Converts keys or values that follow each other; codes become float32 first, where products will lie. */
    private void convert(
            Code code, CpuKvCache pages, int group, long at, long scalesAt, int size, int count, long target) {
        KvType type = pages.stored(group);
        MemorySegment source = pages.segment(group);
        if (!type.isCoded()) {
            code.panels.stage(type.plain(), source.address() + at, target, count * size);
            return;
        }
        pages.format(group).load(source, at, scalesAt, size, count, decoded, 0, size, scratch);
        MemorySegment.copy(decoded, 0, numbers, JAVA_FLOAT, 0, count * size);
        code.panels.stage(DataType.F32, numbers.address(), target, count * size);
    }

    /** Whether the tile's values of some positions are finite: then a weight of zero hides those that a row does not see. */
    private boolean isFinite(Code code, AttentionLayer kind, int from, int to) {
        long rowBytes = (long) kind.heads().valueSize() * code.tiles.type().blockBytes();
        boolean areHalves = code.tiles.compute() == Compute.BF16;
        // what is split overflows where rounding to bfloat16 does
        int infinite = code.tiles.compute() == Compute.SPLIT ? 0x7F7F8000 : 0x7F800000;
        for (long at = from * rowBytes; at < to * rowBytes; at += Integer.BYTES) {
            int word = valueRows.get(JAVA_INT, at);
            if ((word & Integer.MAX_VALUE) >= infinite || (areHalves && (word & 0x7F80) == 0x7F80)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Adds the tile's values row by row, those that a row does not see replaced by zeros: zero times infinity is not zero.
     */
    private void addEach(Code code, AttentionLayer kind, int tile, int first, int last, int heads) {
        int size = kind.heads().valueSize();
        long rowBytes = (long) size * code.tiles.type().blockBytes();
        for (int r = first; r < last; r++) {
            long from = (Math.max(tile, firsts[r]) - tile) * rowBytes;
            long to = (Math.min(tile + TILE, ends[r]) - tile) * rowBytes;
            seenRows.fill((byte) 0);
            MemorySegment.copy(valueRows, from, seenRows, from, to - from);
            weighable(code, seenRows, size);
            add(code, kind, r * heads, (r + 1) * heads);
        }
    }

    /** Adds the tile's values, weighted. */
    private void add(Code code, AttentionLayer kind, int first, int end) {
        int size = kind.heads().valueSize();
        long bytes = (long) first * TILE * Float.BYTES;
        long target = weights.address() + first * code.rowBytes(TILE);
        code.panels.convert(DataType.F32, numbers.address() + bytes, target, (end - first) * TILE);
        code.products.multiply(weights, TILE, valuePanels, size / Panel.OUTPUTS, first, end, partial);
        softmax.add(partial, sums, first, end, size);
    }

    private void end(Rows to, int size, int row, int endRow, int head, int endHead) {
        int heads = endHead - head;
        for (int r = row; r < endRow; r++) {
            long at = (CpuBuffer.row(to, r) + (long) head * size) * Float.BYTES;
            softmax.divide(sums, (r - row) * heads, (r - row + 1) * heads, size, CpuBuffer.of(to), at);
        }
    }
}
