package roselle.cuda.row;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvType;
import roselle.backend.operation.HeadShape;
import roselle.cuda.kernel.AttentionTiling;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.PackedTiles;
import roselle.cuda.memory.Gpu;
import roselle.tensor.DataType;

/**
 * The kernels of {@code attention.cuh} for heads of one size, and how much of a tile their blocks have in shared memory.
 *
 * @param pages how they are stored
 * @param decode a block for each row and key head, or several
 * @param decodeAppend the same, appending new heads before; null where there is none
 * @param decodeWarp a warp for each row and key head; null where there is none
 * @param decodeWarpAppend the same, appending new heads before
 * @param prefill tiles of rows
 * @param prefillHopper the same with Hopper's instructions; null where there is none
 * @param stages tiles of keys and values that {@code decode} has on their way
 * @param halves into how many parts {@code prefill} cuts what other sizes do at once
 */
public record HeadKernels(
        int size,
        KvType pages,
        Kernel decode,
        @Nullable Kernel decodeAppend,
        @Nullable Kernel decodeWarp,
        @Nullable Kernel decodeWarpAppend,
        Kernel prefill,
        @Nullable Kernel prefillHopper,
        int stages,
        int halves) {
    public static final List<Integer> SIZES = List.of(64, 80, 96, 128, 256, 512);

    /** The largest size with kernels that append, that read pages of codes, and that see both ways. */
    public static final int MAX_USUAL = 256;

    public static final int TILE_ROWS = 128;

    private static final int SMALL_SHARED_MEMORY = 100 << 10;
    private static final int SHARED_SCORES = 5120; // bytes of what four warps tell each other of 32 rows

    /** Whether a block of the device has the shared memory that heads of a size need, among many rows too. */
    public static boolean fits(Gpu device, int size) {
        return prefillSharedBytes(size, halves(device, size)) <= device.sharedMemory();
    }

    public static HeadKernels of(Gpu device, Kernels kernels, DataType type, int size) {
        String suffix = "_" + size + "_" + type.label();
        boolean isUsual = size == 64 || size == 128;
        boolean isHopper = device.isHopper() && (isUsual || size == MAX_USUAL);
        KernelSource decoding = isHopper ? KernelSource.ATTENTION_DECODE_HOPPER : KernelSource.ATTENTION_DECODE;
        String decode = isHopper ? "attention_decode_hopper" : "attention_decode";
        return new HeadKernels(
                size,
                KvType.of(type),
                kernels.kernel(decoding, decode + suffix),
                size > MAX_USUAL ? null : kernels.kernel(decoding, decode + "_append" + suffix),
                isUsual ? kernels.kernel(KernelSource.ATTENTION_DECODE_WARP, "attention_decode_warp" + suffix) : null,
                isUsual
                        ? kernels.kernel(KernelSource.ATTENTION_DECODE_WARP, "attention_decode_warp_append" + suffix)
                        : null,
                kernels.kernel(KernelSource.ATTENTION_PREFILL, "attention_prefill" + suffix),
                isHopper
                        ? kernels.kernel(KernelSource.ATTENTION_PREFILL_HOPPER, "attention_prefill_hopper" + suffix)
                        : null,
                stages(device, size),
                halves(device, size));
    }

    /** The same for pages of codes. */
    public HeadKernels ofCodes(Kernels kernels, DataType type, KvType codes) {
        KernelSource source = KernelSource.ofCodes(codes);
        String suffix = "_" + codes.label() + "_" + size + "_" + type.label();
        Kernel decoding = kernels.kernel(source, "attention_decode" + suffix);
        Kernel many = kernels.kernel(source, "attention_prefill" + suffix);
        return new HeadKernels(size, codes, decoding, null, null, null, many, null, size == 256 ? 2 : 3, halves);
    }

    private static boolean isTight(Gpu device, int size) {
        return size == 256 || (size == 128 && device.sharedMemory() < SMALL_SHARED_MEMORY);
    }

    private static int stages(Gpu device, int size) {
        if (size > MAX_USUAL) {
            return 1; // whose keys and values are fetched in turn
        }
        return size == 80 ? 4 : isTight(device, size) ? 2 : 3;
    }

    /** Into how many parts {@code prefill} cuts what other sizes do at once. */
    public static int halves(Gpu device, int size) {
        return size > MAX_USUAL ? 4 : isTight(device, size) ? 2 : 1;
    }

    /** Tokens of a tile of many rows; 0 where too many heads share a key. */
    public int tileTokens(HeadShape heads) {
        return TILE_ROWS / halves / (heads.queryHeads() / heads.keyHeads());
    }

    /** Numbers from row to row of a tile in shared memory. */
    public static int stride(int size) {
        return size + 8;
    }

    /** Bytes of a tile of keys and values in shared memory. */
    public static int tileBytes(int size) {
        return 2 * AttentionTiling.TILE * stride(size) * Short.BYTES;
    }

    /** Bytes of the keys, or of the values, of a split in shared memory. */
    public static int splitBytes(int size) {
        return AttentionTiling.SPLIT * size * Short.BYTES;
    }

    /** Bytes that a tile of keys and values takes on its way. */
    private int stageBytes() {
        return pages.isCoded() ? Math.toIntExact(2 * AttentionTiling.TILE * pages.rowBytes(size)) : tileBytes(size);
    }

    /** Bytes of the tile that codes become. */
    private int decodedBytes() {
        return pages.isCoded() ? tileBytes(size) : 0;
    }

    /** Whether the copy engine brings pages to {@link #decode}, as to {@link #prefillHopper}. */
    public boolean isBulk() {
        return prefillHopper != null;
    }

    public int decodeSharedBytes() {
        if (isBulk()) {
            return PackedTiles.STAGE_ALIGNMENT
                    + stages * (4 * AttentionTiling.TILE * size + Long.BYTES)
                    + 32 * size
                    + 2560;
        }
        return decodedBytes() + stages * stageBytes() + 32 * size + 2560;
    }

    public int decodeWarpSharedBytes() {
        int partsOnTheirWay = size == 64 ? 4 : 3; // of a tile, half of it each
        return partsOnTheirWay * AttentionTiling.TILE * Short.BYTES * size;
    }

    public int prefillSharedBytes() {
        return pages.isCoded()
                ? prefillRowBytes(size, halves) + decodedBytes() + 2 * stageBytes()
                : prefillSharedBytes(size, halves);
    }

    /** Bytes of shared memory that a block of many rows has, with pages of plain numbers. */
    public static int prefillSharedBytes(int size, int halves) {
        return prefillRowBytes(size, halves)
                + (size > MAX_USUAL ? tileBytes(size) + SHARED_SCORES : 2 * tileBytes(size));
    }

    private static int prefillRowBytes(int size, int halves) {
        return TILE_ROWS / halves * Short.BYTES * stride(size);
    }

    public int prefillHopperSharedBytes() {
        if (size == MAX_USUAL) { // queries, keys of two splits, values of one, barriers
            return TILE_ROWS / halves * Short.BYTES * size
                    + 3 * splitBytes(size)
                    + 8 * Long.BYTES
                    + PackedTiles.STAGE_ALIGNMENT;
        }
        int splitsOnTheirWay = size == 64 ? 6 : 3;
        return TILE_ROWS * Short.BYTES * size
                + splitsOnTheirWay * (2 * splitBytes(size) + 3 * Long.BYTES) // keys, values, and barriers
                + PackedTiles.STAGE_ALIGNMENT;
    }
}
