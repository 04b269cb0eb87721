package roselle.cuda.state;

import roselle.backend.operation.DeltaHeads;
import roselle.cuda.kernel.AttentionTiling;

/** What the kernels of delta rules and scans take, and what their blocks have ({@code generic_state.cu}, {@code delta_rule.cu}). */
final class DeltaSizes {
    /** Columns of a value that a block of the generic kernel has, and channels of a scan. */
    static final int COLUMNS = 32;

    /** Numbers of a value that a block for many rows has. */
    static final int TILE = 64;

    static final int ROWS_THREADS = 256;

    /** Value heads of a key head that a block for single rows has, at most. */
    static final int DECODE_HEADS = 4;

    /** Inputs that an output of a net's convolution sees. */
    static final int NET_TAPS = 4;

    private static final int PAGE = AttentionTiling.PAGE;
    private static final int KEY = 128;
    private static final int PARTIAL_SUMS = 2 * 128;
    private static final int LANES = 4; // of a channel of a scan
    private static final int STAGES = 2;
    private static final int AHEAD = 8;

    /** What one page has ready. */
    private static final int PREPARED_BYTES = (2 * PAGE * KEY + PAGE * (TILE + 4) + 2 * PAGE * PAGE) * Float.BYTES;

    /** Decays of as many pages as are known at a time. */
    private static final int DECAY_BYTES = 2 * AHEAD * 4 * PAGE * Float.BYTES;

    /** Queries, keys and values of a page. */
    private static final int FETCHED_BYTES = PAGE * (2 * KEY + TILE) * Short.BYTES;

    static final int ROWS_SHARED_BYTES =
            2 * PREPARED_BYTES + DECAY_BYTES + STAGES * FETCHED_BYTES + TILE * (PAGE + 4) * Float.BYTES;

    private static final int DECODE_NUMBERS = (PAGE + 8) * KEY + DECODE_HEADS * (3 * PAGE + 2);

    private DeltaSizes() {}

    /** Whether there are tensor-core kernels for heads, with rows of 16 bits. */
    static boolean areFast(DeltaHeads heads, int pageTokens) {
        return pageTokens == PAGE
                && !heads.decaysByChannel()
                && heads.keySize() == KEY
                && (heads.valueSize() == TILE || heads.valueSize() == 2 * TILE);
    }

    static int decodeThreads(DeltaHeads heads) {
        return 2 * heads.valueSize();
    }

    static int decodeSharedBytes(DeltaHeads heads) {
        return (DECODE_NUMBERS + 2 * PAGE * (heads.valueSize() + 8) + heads.headState()) * Float.BYTES;
    }

    /** Of a block of a net, which keeps a norm's weight, gates and what they multiply besides. */
    static int netSharedBytes(DeltaHeads heads) {
        return decodeSharedBytes(heads) + heads.valueSize() * (Float.BYTES + 2 * Short.BYTES);
    }

    /** Of a block of the generic kernel. */
    static int sharedBytes(DeltaHeads heads, int pageTokens) {
        int keys = pageTokens + 1 + (heads.decaysByChannel() ? 1 : 0);
        int numbers = (keys + COLUMNS) * heads.keySize() + pageTokens * (COLUMNS + 3) + PARTIAL_SUMS;
        return Math.multiplyExact(numbers, Float.BYTES);
    }

    /** Of a block of a selective scan: its channels' states and their rates. */
    static int scanSharedBytes(int stateSize) {
        return Math.multiplyExact(2 * COLUMNS * LANES * Float.BYTES, (stateSize + LANES - 1) / LANES);
    }
}
