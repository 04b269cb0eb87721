package roselle.tokenizer.model;

/**
 * Merges a stretch of symbols until none of its neighbours may: the lowest rank first, leftmost first. Reusable, so that
 * the windows of a long piece share its arrays. Not thread-safe.
 */
final class SymbolMerger {
    private static final int CELL = 4; // symbol, next, previous, and one that is not used but aligns
    private static final int NEXT = 1;
    private static final int PREVIOUS = 2;
    private static final int NONE = -1;

    private final PairTable pairs;
    private final int[] mergedOfRank;
    private final MergeHeap heap;
    private int[] cells; // a list that is linked both ways; one cell lies in one cache line
    private int origin;

    SymbolMerger(PairTable pairs, int[] mergedOfRank, int expected) {
        this.pairs = pairs;
        this.mergedOfRank = mergedOfRank;
        heap = new MergeHeap(expected);
        cells = new int[CELL * expected];
    }

    /** Merges the symbols {@code [from, to)}, at least one. */
    void merge(IdBuffer symbols, int from, int to) {
        link(symbols, from, to);
        for (int i = from + 1; i < to; i++) {
            offer(pairs.find(symbols.id(i - 1), symbols.id(i)), i - 1 - from);
        }
        for (long merge = heap.poll(); merge != MergeHeap.EMPTY; merge = heap.poll()) {
            tryMerge((int) (merge >>> 32), (int) merge);
        }
    }

    private void link(IdBuffer symbols, int from, int to) {
        int count = to - from;
        if (CELL * count > cells.length) {
            cells = new int[Math.max(CELL * count, 2 * cells.length)];
        }
        origin = from;
        for (int i = 0; i < count; i++) {
            cells[CELL * i] = symbols.id(from + i);
            cells[CELL * i + NEXT] = i + 1 < count ? i + 1 : NONE;
            cells[CELL * i + PREVIOUS] = i - 1;
        }
    }

    private void tryMerge(int rank, int at) {
        int right = cells[CELL * at + NEXT];
        if (right == NONE || cells[CELL * at] == NONE) {
            return;
        }
        long now = pairs.find(cells[CELL * at], cells[CELL * right]);
        if (now == PairTable.ABSENT || !stands(now, rank)) {
            return;
        }
        join(at, right, (int) now);
        int after = cells[CELL * at + NEXT];
        if (after != NONE) {
            offer(pairs.find((int) now, cells[CELL * after]), at);
        }
        int before = cells[CELL * at + PREVIOUS];
        if (before != NONE) {
            offer(pairs.find(cells[CELL * before], (int) now), before);
        }
    }

    private boolean stands(long now, int rank) {
        return (int) (now >>> 32) == rank || mergedOfRank[rank] == (int) now;
    }

    private void offer(long merge, int position) {
        if (merge != PairTable.ABSENT) {
            heap.add((int) (merge >>> 32), position);
        }
    }

    /** Makes {@code at} the merged symbol and takes {@code right} out of the list. */
    private void join(int at, int right, int merged) {
        int after = cells[CELL * right + NEXT];
        cells[CELL * at] = merged;
        cells[CELL * at + NEXT] = after;
        cells[CELL * right] = NONE;
        if (after != NONE) {
            cells[CELL * after + PREVIOUS] = at;
        }
    }

    /** Appends what is left, in order. */
    void appendTo(IdBuffer merged) {
        for (int i = 0; i != NONE; i = cells[CELL * i + NEXT]) {
            merged.add(cells[CELL * i]);
        }
    }

    /** Appends what is left, in order, and where each begins among the symbols that were given. */
    void appendTo(IdBuffer merged, IdBuffer starts) {
        for (int i = 0; i != NONE; i = cells[CELL * i + NEXT]) {
            merged.add(cells[CELL * i]);
            starts.add(origin + i);
        }
    }
}
