package roselle.cuda.gemm;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.backend.Phase;
import roselle.cuda.kernel.CodedFormat;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.cuda.layout.WeightBlockLayout;
import roselle.cuda.memory.Gpu;
import roselle.quantization.ColumnOrder;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/**
 * Brings weights to the device through pinned memory: a mapped file is read by Java alone.
 *
 * <p>On Hopper a plain matrix is rounded to the activations' 16 bits and packed for the tensor cores, and so are codes with scales
 * of a second tensor and the blocks of some GGUF types, in their bits; other quantized ones, experts, and all where rows are float32
 * stay as the checkpoint has them, but for scales of a second tensor, which go between the codes.
 */
public final class WeightLoader {
    private static final System.Logger LOG = System.getLogger(WeightLoader.class.getName());
    private static final int STAGING_BYTES = 32 << 20;
    private static final int TILE = PackedTiles.TILE;
    private static final long ALIGNMENT = 256;
    private static final long GUARD = 256; // kernels may read a little before and after a block

    private final Gpu device;
    private final Launcher launcher;
    private final MmaLinear mma;
    private final @Nullable Fp8Linear fp8; // null where products are not in FP8
    private final DataType type;
    private final @Nullable Kernel pack; // null where matrices stay as they are
    private final Kernels kernels;
    private final Map<DataType, CodedLinear> coded = new EnumMap<>(DataType.class);
    private final MemorySegment[] staging = new MemorySegment[2];
    private final long[] rowMajor = new long[2];
    private int turn;
    private int orderedColumns;
    private boolean lacksFp8; // of a device that multiplies in FP8: whether no weight was for that
    private long readingNanos;
    private long waitingNanos;

    public WeightLoader(
            Gpu device, Kernels kernels, Launcher launcher, MmaLinear mma, @Nullable Fp8Linear fp8, DataType type) {
        this.device = device;
        this.kernels = kernels;
        this.launcher = launcher;
        this.mma = mma;
        this.fp8 = fp8;
        lacksFp8 = fp8 != null;
        this.type = type;
        boolean packs = device.isHopper() && type != DataType.F32;
        pack = packs ? kernels.kernel(KernelSource.LINEAR_HOPPER, "pack_weight") : null;
    }

    private boolean packs(int matrices, List<WeightRows> blocks) {
        return pack != null
                && matrices == 1
                && blocks.getFirst().shape().columns() % 8 == 0
                && blocks.stream().allMatch(WeightLoader::isPlain);
    }

    private static boolean areWholeTiles(List<WeightRows> blocks) {
        return blocks.stream()
                .limit(blocks.size() - 1L)
                .allMatch(block -> block.shape().rows() % TILE == 0);
    }

    /** What tiles of codes a weight is packed into; none where it is not. */
    private Optional<CodedFormat> codes(int matrices, List<WeightRows> blocks) {
        DataType first = blocks.getFirst().type();
        boolean fits = pack != null
                && matrices == 1
                && blocks.stream().allMatch(block -> block.type() == first)
                && areWholeTiles(blocks)
                && first.rowBytes(blocks.getFirst().shape().columns()) * TILE <= STAGING_BYTES;
        return fits ? CodedFormat.of(first) : Optional.empty();
    }

    /** Blocks of one type each that follow one another, if there are several, and tiles for each; else none. */
    private List<List<WeightRows>> joined(int matrices, List<WeightRows> blocks) {
        var runs = new ArrayList<List<WeightRows>>();
        for (WeightRows block : blocks) {
            if (runs.isEmpty() || runs.getLast().getFirst().type() != block.type()) {
                runs.add(new ArrayList<>());
            }
            runs.getLast().add(block);
        }
        boolean fits = runs.size() > 1
                && areWholeTiles(blocks)
                && runs.stream().allMatch(run -> codes(matrices, run).isPresent());
        return fits ? runs : List.of();
    }

    private static boolean isFp8(Optional<CodedFormat> codes) {
        return codes.map(CodedFormat::type).filter(DataType.F8_E4M3_128::equals).isPresent();
    }

    private static boolean isPlain(WeightRows block) {
        return switch (block.type()) {
            case F32, F16, BF16 -> true;
            default -> false;
        };
    }

    /** Bytes of device memory that loading takes and returns with the first step. */
    public long stagingBytes() {
        return pack == null ? 0 : (long) rowMajor.length * STAGING_BYTES;
    }

    /**
     * Bytes of device memory that a weight will take.
     *
     * @throws DeviceException where it is not one that products read
     */
    public long bytes(int matrices, List<WeightRows> blocks) {
        ColumnOrder order = order(matrices, blocks);
        return matrixBytes(matrices, blocks) + (order == null ? 0 : aligned((long) columns(blocks) * Integer.BYTES));
    }

    private static int columns(List<WeightRows> blocks) {
        return Math.toIntExact(blocks.getFirst().shape().columns());
    }

    /** The order that the columns of all blocks have; null where it is their own. */
    private @Nullable ColumnOrder order(int matrices, List<WeightRows> blocks) {
        WeightRows first = blocks.getFirst();
        ColumnOrder order = first.order();
        for (WeightRows block : blocks) {
            if (!Objects.equals(order, block.order())) {
                throw new DeviceException("tensors " + first.name() + " and " + block.name()
                        + " are multiplied at once, but their columns were quantized in different orders,"
                        + " which no kernel reads: take another file of the model, or the device cpu");
            }
        }
        if (order != null && matrices > 1) {
            throw new DeviceException(
                    "tensor " + first.name() + " is one of several matrices that are multiplied at once, and its"
                            + " columns were quantized in an order of its own, which no kernel reads: take another file of the model, or"
                            + " the device cpu");
        }
        if (order != null) {
            orderedColumns = Math.max(orderedColumns, columns(blocks));
        }
        return order;
    }

    /** Columns of the widest weight, loaded or asked about, that have another order than rows; 0 for none. */
    public int orderedColumns() {
        return orderedColumns;
    }

    private long matrixBytes(int matrices, List<WeightRows> blocks) {
        if (packs(matrices, blocks)) {
            return packedBytes(rows(blocks), blocks.getFirst().shape().columns());
        }
        Optional<CodedFormat> codes = codes(matrices, blocks);
        if (fp8 != null && isFp8(codes)) {
            return Fp8Linear.weightBytes(rows(blocks), blocks.getFirst().shape().columns());
        }
        if (codes.isPresent()) {
            return CodedLinear.bytes(
                    codes.get(), rows(blocks), blocks.getFirst().shape().columns());
        }
        List<List<WeightRows>> joined = joined(matrices, blocks);
        if (!joined.isEmpty()) {
            return joined.stream().mapToLong(run -> matrixBytes(1, run)).sum();
        }
        long bytes = aligned(blocks.size() * WeightBlockLayout.BYTES);
        if (isStack(matrices, blocks)) {
            return bytes + aligned(stackBytes(blocks) + 2 * GUARD);
        }
        for (WeightRows block : blocks) {
            bytes += aligned(block.bytes() + 2 * GUARD);
        }
        return bytes;
    }

    /** Whether the blocks are brought to one piece of memory, one after the other. */
    private boolean isStack(int matrices, List<WeightRows> blocks) {
        return matrices > 1 && mma.takesStack(blocks);
    }

    private static long stackBytes(List<WeightRows> blocks) {
        return blocks.stream().mapToLong(block -> block.bytes()).sum();
    }

    private static long rows(List<WeightRows> blocks) {
        return blocks.stream().mapToLong(block -> block.shape().rows()).sum();
    }

    private static long packedBytes(long rows, long columns) {
        long rowTiles = (rows + TILE - 1) / TILE;
        return (rowTiles + rowTiles % 2) * ((columns + TILE - 1) / TILE) * PackedTiles.TILE_BYTES;
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    public CudaWeight load(String name, int matrices, List<WeightRows> blocks) {
        int columns = Math.toIntExact(blocks.getFirst().shape().columns());
        for (WeightRows block : blocks) {
            if (block.shape().columns() != columns) {
                throw new IllegalArgumentException("weight " + name + " has blocks of " + columns + " and of "
                        + block.shape().columns() + " columns");
            }
        }
        int rows = Math.toIntExact(rows(blocks));
        if (matrices < 1 || rows % matrices != 0) {
            throw new IllegalArgumentException(
                    "weight " + name + " has " + rows + " rows for " + matrices + " matrices");
        }
        ColumnOrder order = order(matrices, blocks);
        CudaWeight weight = matrix(name, matrices, rows, columns, blocks);
        return order == null ? weight : weight.ordered(constants(order.columns()));
    }

    private CudaWeight matrix(String name, int matrices, int rows, int columns, List<WeightRows> blocks) {
        if (pack != null && packs(matrices, blocks)) {
            return packed(pack, name, rows, columns, blocks);
        }
        Optional<CodedFormat> codes = codes(matrices, blocks);
        if (fp8 != null && isFp8(codes)) {
            return fp8(fp8, name, rows, columns, blocks);
        }
        if (codes.isPresent()) {
            return coded(codes.get(), name, rows, columns, blocks);
        }
        List<List<WeightRows>> joined = joined(matrices, blocks);
        if (joined.isEmpty()) {
            return raw(name, matrices, rows / matrices, columns, blocks);
        }
        List<CudaWeight> parts = joined.stream()
                .map(run -> matrix(name, 1, Math.toIntExact(rows(run)), columns, run))
                .toList();
        return new CudaWeight(name, 1, rows, columns, 0, 0, List.of(), false, new JoinedProducts(parts), 0);
    }

    private CudaWeight raw(String name, int matrices, int rows, int columns, List<WeightRows> blocks) {
        long table = device.memory().allocateWeights(blocks.size() * WeightBlockLayout.BYTES);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entries = arena.allocate(WeightBlockLayout.LAYOUT, blocks.size());
            boolean isStack = isStack(matrices, blocks);
            long next = isStack ? device.memory().allocateWeights(stackBytes(blocks) + 2 * GUARD) + GUARD : 0;
            var parts = new ArrayList<CudaWeight.Block>();
            int firstRow = 0;
            for (int i = 0; i < blocks.size(); i++) {
                WeightRows block = blocks.get(i);
                long at = i * WeightBlockLayout.BYTES;
                int blockRows = Math.toIntExact(block.shape().rows());
                long rowBytes = block.type().rowBytes(columns);
                long address = isStack ? next : device.memory().allocateWeights(block.bytes() + 2 * GUARD) + GUARD;
                upload(block, address);
                next += block.bytes();
                parts.add(new CudaWeight.Block(address, rowBytes, firstRow, blockRows, block.type()));
                WeightBlockLayout.DATA.set(entries, at, address);
                WeightBlockLayout.ROW_BYTES.set(entries, at, rowBytes);
                WeightBlockLayout.FIRST_ROW.set(entries, at, firstRow);
                WeightBlockLayout.TYPE.set(entries, at, KernelNumbers.of(block.type()));
                firstRow += blockRows;
            }
            device.driver().copyIn(table, entries, entries.byteSize(), device.stream());
            device.synchronize();
            boolean usesTensorCores = isStack || (matrices == 1 && mma.takes(blocks));
            if (isStack) {
                mma.noteStack(blocks.getFirst().type());
            } else if (usesTensorCores) {
                mma.reserve(blocks);
            }
            return new CudaWeight(name, matrices, rows, columns, 0, table, parts, usesTensorCores);
        }
    }

    private void upload(WeightRows rows, long address) {
        long atOnce = rows.atOnce(STAGING_BYTES);
        for (long from = 0; from < rows.bytes(); from += atOnce) {
            long bytes = Math.min(atOnce, rows.bytes() - from);
            MemorySegment pinned = staging();
            long begin = System.nanoTime();
            rows.copy(from, pinned, bytes);
            readingNanos += System.nanoTime() - begin;
            device.driver().copyIn(address + from, pinned, bytes, device.stream());
        }
    }

    /** Pinned memory that nothing is copied from any more. */
    private MemorySegment staging() {
        turn = 1 - turn;
        long begin = System.nanoTime();
        if (staging[turn] == null) {
            staging[turn] = device.host().allocate(STAGING_BYTES);
        } else {
            device.synchronize();
        }
        waitingNanos += System.nanoTime() - begin;
        return staging[turn];
    }

    /** How long it read and rounded weights, and how long it waited for memory to bring them to. */
    public List<Phase> phases() {
        return List.of(new Phase("weights read", readingNanos), new Phase("their way to the device", waitingNanos));
    }

    private CudaWeight packed(Kernel kernel, String name, int rows, int columns, List<WeightRows> blocks) {
        long address = cleared(packedBytes(rows, columns));
        int atOnce = Math.max(TILE, STAGING_BYTES / (columns * Short.BYTES) / TILE * TILE);
        for (int row = 0; row < rows; row += atOnce) { // a tile may have rows of several blocks
            int count = Math.min(atOnce, rows - row);
            long matrix = rowMajor(blocks, row, count, columns);
            launcher.barrier();
            launcher.of(kernel)
                    .pointer(matrix)
                    .wide(columns)
                    .pointer(address)
                    .integer(row / TILE)
                    .integer(count)
                    .integer(columns)
                    .launch(Launcher.cover(columns, TILE), Launcher.cover(count, TILE), 1, 256);
            launcher.barrier();
        }
        return new CudaWeight(name, 1, rows, columns, address, 0, List.of(), false);
    }

    private CudaWeight coded(CodedFormat format, String name, int rows, int columns, List<WeightRows> blocks) {
        CodedLinear products = coded.computeIfAbsent(format.type(), _ -> new CodedLinear(kernels, format, type));
        long address = cleared(CodedLinear.bytes(format, rows, columns));
        long rowBytes = format.type().rowBytes(columns);
        pack(
                blocks,
                rowBytes,
                (_, firstTile, count) ->
                        products.pack(launcher, rowMajor(), rowBytes, address, firstTile, count, columns));
        return new CudaWeight(name, 1, rows, columns, address, 0, List.of(), false, products, 0);
    }

    private CudaWeight fp8(Fp8Linear products, String name, int rows, int columns, List<WeightRows> blocks) {
        lacksFp8 = false;
        var scales = new Fp8Scales(name, rows, columns);
        long address = cleared(Fp8Linear.tileBytes(rows, columns));
        long rowBytes = DataType.F8_E4M3_128.rowBytes(columns);
        pack(blocks, rowBytes, (pinned, firstTile, count) -> {
            scales.read(pinned, firstTile, count);
            products.pack(launcher, rowMajor(), rowBytes, address, firstTile, count, columns);
        });
        var factors = new Fp8Weight(products, constants(scales.tiles()), constants(scales.rows()));
        return new CudaWeight(name, 1, rows, columns, address, 0, List.of(), false, factors, 0);
    }

    private long cleared(long bytes) {
        long address = device.memory().allocateWeights(bytes);
        device.driver().clear(address, bytes, device.stream());
        return address;
    }

    /** Packs rows of blocks that are in pinned memory and, row by row, in {@link #rowMajor()}. */
    @FunctionalInterface
    private interface Packing {
        void pack(MemorySegment pinned, int firstTile, int count);
    }

    private void pack(List<WeightRows> blocks, long rowBytes, Packing packing) {
        int atOnce = Math.toIntExact(STAGING_BYTES / rowBytes / TILE * TILE);
        int firstTile = 0;
        for (WeightRows block : blocks) {
            int blockRows = Math.toIntExact(block.shape().rows());
            for (int row = 0; row < blockRows; row += atOnce) {
                int count = Math.min(atOnce, blockRows - row);
                MemorySegment pinned = staging();
                long begin = System.nanoTime();
                block.copy(row * rowBytes, pinned, count * rowBytes);
                readingNanos += System.nanoTime() - begin;
                device.driver().copyIn(rowMajor(), pinned, count * rowBytes, device.stream());
                launcher.barrier();
                packing.pack(pinned, firstTile, count);
                launcher.barrier();
                firstTile += Launcher.cover(count, TILE);
            }
        }
    }

    /** Device memory beside the pinned one of this turn. */
    private long rowMajor() {
        if (rowMajor[turn] == 0) {
            rowMajor[turn] = device.memory().borrow(STAGING_BYTES);
        }
        return rowMajor[turn];
    }

    /** Sends rows of plain blocks, one below the other, as 16-bit numbers; returns where they are until the call after the next one. */
    private long rowMajor(List<WeightRows> blocks, int firstRow, int rows, int columns) {
        long rowBytes = (long) columns * Short.BYTES;
        if (rows * rowBytes > STAGING_BYTES) {
            throw new IllegalArgumentException("a matrix of " + columns + " columns is too wide");
        }
        MemorySegment pinned = staging();
        long target = rowMajor();
        long begin = System.nanoTime();
        long blockFirst = 0;
        for (WeightRows block : blocks) {
            long blockEnd = blockFirst + block.shape().rows();
            long from = Math.max(firstRow, blockFirst);
            long end = Math.min(firstRow + rows, blockEnd);
            if (from < end) {
                MemorySegment part = pinned.asSlice((from - firstRow) * rowBytes, (end - from) * rowBytes);
                copy(block, from - blockFirst, end - from, columns, part);
            }
            blockFirst = blockEnd;
        }
        readingNanos += System.nanoTime() - begin;
        device.driver().copyIn(target, pinned, rows * rowBytes, device.stream());
        return target;
    }

    private void copy(WeightRows block, long firstRow, long rows, int columns, MemorySegment target) {
        long rowBytes = block.type().rowBytes(columns);
        if (block.type() == type) {
            block.copy(firstRow * rowBytes, target, rows * rowBytes);
        } else {
            MemorySegment source = stored(block).asSlice(firstRow * rowBytes, rows * rowBytes);
            round(source, block.type(), target, rows * columns, columns);
        }
    }

    private static MemorySegment stored(WeightRows plain) {
        return switch (plain) {
            case WeightRows.Stored stored -> stored.tensor().data();
            case WeightRows.Joined joined ->
                throw new IllegalStateException(joined.type().label() + " is not plain");
        };
    }

    private void round(MemorySegment source, DataType from, MemorySegment target, long elements, int columns) {
        Dequantizer dequantizer = Dequantizer.of(from);
        long rowBytes = from.rowBytes(columns);
        long rows = elements / columns;
        LongStream.range(0, rows).parallel().forEach(row -> {
            var numbers = new float[columns];
            dequantizer.dequantize(source, row * rowBytes, numbers, 0, columns);
            for (int i = 0; i < columns; i++) {
                short bits = type == DataType.BF16 ? bfloat16(numbers[i]) : Float.floatToFloat16(numbers[i]);
                target.setAtIndex(JAVA_SHORT, row * columns + i, bits);
            }
        });
    }

    /** Rounds to the nearest bfloat16, ties to even. */
    static short bfloat16(float number) {
        int bits = Float.floatToRawIntBits(number);
        if (Float.isNaN(number)) {
            return (short) ((bits >>> 16) | 0x40);
        }
        return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
    }

    /** Sends float32 numbers to memory of their own. */
    public long constants(float[] values) {
        try (Arena arena = Arena.ofConfined()) {
            return constants(arena.allocateFrom(JAVA_FLOAT, values));
        }
    }

    private long constants(int[] values) {
        try (Arena arena = Arena.ofConfined()) {
            return constants(arena.allocateFrom(JAVA_INT, values));
        }
    }

    private long constants(MemorySegment values) {
        long address = device.memory().allocateWeights(values.byteSize());
        device.driver().copyIn(address, values, values.byteSize(), device.stream());
        device.synchronize();
        return address;
    }

    /** Gives back what loading alone needed. */
    public void finish() {
        if (lacksFp8) {
            LOG.log(System.Logger.Level.WARNING, "event=no-fp8-weights compute={0}", type.label());
            lacksFp8 = false;
        }
        device.synchronize();
        for (int i = 0; i < staging.length; i++) {
            if (staging[i] != null) {
                device.host().free(staging[i]);
                staging[i] = null;
            }
            if (rowMajor[i] != 0) {
                device.memory().giveBack(rowMajor[i], STAGING_BYTES);
                rowMajor[i] = 0;
            }
        }
    }
}
