package roselle.cpu.attention;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import jdk.incubator.vector.FloatVector;
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
    private float[] sums = new float[0]; // [entries, valueSize]
    private float[] partial = new float[0]; // [entries, valueSize]
    private MemorySegment queries = MemorySegment.NULL; // [entries][keySize], converted
    private MemorySegment weights = MemorySegment.NULL; // [entries][TILE], converted
    private MemorySegment numbers =
            MemorySegment.NULL; // [entries][TILE], then [entries][valueSize]; before, keys or values
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
        if (sums.length < ENTRIES * valueSize) {
            sums = new float[ENTRIES * valueSize];
            partial = new float[ENTRIES * valueSize];
        }
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
        return ENTRIES * (keyBytes + tileBytes)
                + numberBytes(keySize, valueSize)
                + TILE * (2 * keyBytes + 3 * valueBytes);
    }

    /** Bytes of what is multiplied or about to be: scores or sums of all entries, or a tile's keys. */
    private static long numberBytes(int keySize, int valueSize) {
        long entries = ENTRIES * (long) Math.max(TILE, valueSize);
        return Math.max(entries, TILE * (long) keySize) * Float.BYTES;
    }

    /** Bytes of native memory that were taken. */
    long bytes() {
        return queries.byteSize()
                + weights.byteSize()
                + numbers.byteSize()
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
        int lowest = call.first(row);
        int end = call.end(endRow - 1);
        int heads = endHead - head;
        for (int tile = lowest / TILE * TILE; tile < end; tile += TILE) {
            int from = Math.max(tile, lowest);
            int to = Math.min(tile + TILE, end);
            int firstRow = row;
            while (call.end(firstRow) <= tile) {
                firstRow++;
            }
            int lastRow = endRow;
            while (call.first(lastRow - 1) >= tile + TILE) {
                lastRow--;
            }
            boolean seesLess = call.end(firstRow) < to || call.first(lastRow - 1) > from;
            if (to - from == TILE && !seesLess && areInPanels(pages, kind.group())) {
                loadWhole(code, call, sequence, head, tile, end);
            } else {
                load(code, now, kind, pages, sequence, head, tile, from, to);
            }
            int firstEntry = (firstRow - row) * heads;
            int lastEntry = (lastRow - row) * heads;
            score(code, kind, firstEntry, lastEntry);
            for (int r = firstRow; r < lastRow; r++) {
                int fromPosition = Math.max(tile, call.first(r)) - tile;
                int toPosition = Math.min(tile + TILE, call.end(r)) - tile;
                for (int h = 0; h < heads; h++) {
                    int entry = (r - row) * heads + h;
                    softmax.sees(entry, fromPosition, toPosition);
                    call.addDistances(
                            r,
                            head + h,
                            tile + fromPosition,
                            tile + toPosition,
                            softmax.scores(),
                            entry * TILE + fromPosition);
                }
            }
            softmax.soften(firstEntry, lastEntry, kind.scale(), kind.softCap(), numbers);
            if (seesLess && !isFinite(code, kind, from - tile, to - tile)) {
                addEach(code, call, tile, row, firstRow, lastRow, heads);
            } else {
                add(code, kind, firstEntry, lastEntry);
            }
        }
        end(call.output(), kind.heads().valueSize(), row, endRow, head, endHead);
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
        Arrays.fill(sums, 0, i * kind.heads().valueSize(), 0f);
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
            long target = valuePanels.address() + n * code.rowBytes(Panel.OUTPUTS * Panel.OUTPUTS);
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
            code.panels.convert(type.plain(), source.address() + at, target, count * size);
            return;
        }
        pages.format(group).load(source, at, scalesAt, size, count, decoded, 0, size, scratch);
        MemorySegment.copy(decoded, 0, numbers, JAVA_FLOAT, 0, count * size);
        code.panels.convert(DataType.F32, numbers.address(), target, count * size);
    }

    private void score(Code code, AttentionLayer kind, int first, int end) {
        int keySize = kind.heads().keySize();
        code.products.multiply(queries, keySize, keyPanels, TILE_PANELS, first, end, numbers);
        MemorySegment.copy(
                numbers,
                JAVA_FLOAT,
                (long) first * TILE * Float.BYTES,
                softmax.scores(),
                first * TILE,
                (end - first) * TILE);
    }

    /** Whether the tile's values of some positions are finite: then a weight of zero hides those that a row does not see. */
    private boolean isFinite(Code code, AttentionLayer kind, int from, int to) {
        long rowBytes = code.rowBytes(kind.heads().valueSize());
        int upper = 0x7F800000;
        int lower = code.tiles.compute() == Compute.BF16 ? 0x7F80 : upper;
        for (long at = from * rowBytes; at < to * rowBytes; at += Integer.BYTES) {
            int word = valueRows.get(JAVA_INT, at);
            if ((word & upper) == upper || (word & lower) == lower) {
                return false;
            }
        }
        return true;
    }

    /**
     * Adds the tile's values row by row, those that a row does not see replaced by zeros: zero times infinity is not zero.
     */
    private void addEach(Code code, AttentionCall call, int tile, int row, int firstRow, int lastRow, int heads) {
        AttentionLayer kind = call.layer();
        int size = kind.heads().valueSize();
        long rowBytes = code.rowBytes(size);
        for (int r = firstRow; r < lastRow; r++) {
            long from = (Math.max(tile, call.first(r)) - tile) * rowBytes;
            long to = (Math.min(tile + TILE, call.end(r)) - tile) * rowBytes;
            seenRows.fill((byte) 0);
            MemorySegment.copy(valueRows, from, seenRows, from, to - from);
            weighable(code, seenRows, size);
            add(code, kind, (r - row) * heads, (r - row + 1) * heads);
        }
    }

    /** Adds the tile's values, weighted. */
    private void add(Code code, AttentionLayer kind, int first, int end) {
        int size = kind.heads().valueSize();
        long rowBytes = code.rowBytes(TILE);
        long bytes = (long) TILE * Float.BYTES;
        int count = (end - first) * TILE;
        MemorySegment.copy(softmax.scores(), first * TILE, numbers, JAVA_FLOAT, first * bytes, count);
        code.panels.convert(
                DataType.F32, numbers.address() + first * bytes, weights.address() + first * rowBytes, count);
        code.products.multiply(weights, TILE, valuePanels, size / Panel.OUTPUTS, first, end, numbers);
        MemorySegment.copy(
                numbers, JAVA_FLOAT, (long) first * size * Float.BYTES, partial, first * size, (end - first) * size);
        for (int i = first; i < end; i++) {
            shrinkAndAdd(softmax.shrink(i), i * size, (i + 1) * size);
        }
    }

    private void shrinkAndAdd(float shrink, int from, int to) {
        FloatVector factor = FloatVector.broadcast(FLOATS, shrink);
        for (int d = from; d < to; d += COUNT) {
            FloatVector tile = FloatVector.fromArray(FLOATS, partial, d);
            FloatVector.fromArray(FLOATS, sums, d).fma(factor, tile).intoArray(sums, d);
        }
    }

    private void end(Rows to, int size, int row, int endRow, int head, int endHead) {
        int i = 0;
        for (int r = row; r < endRow; r++) {
            for (int h = head; h < endHead; h++) {
                for (int d = i * size; d < (i + 1) * size; d++) {
                    sums[d] /= softmax.denominator(i);
                }
                long at = CpuBuffer.row(to, r) + (long) h * size;
                MemorySegment.copy(sums, i * size, CpuBuffer.of(to), JAVA_FLOAT, at * Float.BYTES, size);
                i++;
            }
        }
    }
}
