package roselle.cpu.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;
import roselle.backend.memory.Weight;
import roselle.cpu.format.Formats;
import roselle.cpu.format.WeightFormat;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.OwnedMemory;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.thread.WorkerPool;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/** Matrices as the checkpoint stores them: blocks of rows, each of one type, read in place. */
public final class CpuWeight implements Weight {
    /** Consecutive rows of one type, without gaps between them. */
    public record Block(
            DataType type,
            WeightFormat format,
            Dequantizer dequantizer,
            int firstRow,
            int rows,
            long rowBytes,
            MemorySegment data) {}

    private final String name;
    private final int matrices;
    private final int rows;
    private final int columns;
    private final Block[] blocks;
    private final Compute compute;
    private PackedBlock[] packed = new PackedBlock[0];
    private boolean isInTiles;

    public CpuWeight(String name, int matrices, List<StoredMatrix> stored) {
        this(name, matrices, stored, Compute.F32);
    }

    public CpuWeight(String name, int matrices, List<StoredMatrix> stored, Compute compute) {
        this.name = name;
        this.compute = compute;
        this.matrices = matrices;
        columns = Math.toIntExact(stored.getFirst().shape().columns());
        blocks = new Block[stored.size()];
        int firstRow = 0;
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = block(stored.get(i), firstRow);
            firstRow = Math.addExact(firstRow, blocks[i].rows);
        }
        if (matrices < 1 || firstRow % matrices != 0) {
            throw new IllegalArgumentException(
                    "weight " + name + " has " + firstRow + " rows for " + matrices + " matrices");
        }
        rows = firstRow / matrices;
    }

    private Block block(StoredMatrix part, int firstRow) {
        if (part.shape().columns() != columns) {
            throw new IllegalArgumentException("weight " + name + " has blocks of " + columns + " and of "
                    + part.shape().columns() + " columns");
        }
        int blockRows = Math.toIntExact(part.shape().rows());
        DataType type = part.codes().type();
        long rowBytes = type.rowBytes(columns);
        return new Block(
                type,
                Formats.of(part),
                part.dequantizer(),
                firstRow,
                blockRows,
                rowBytes,
                part.codes().data());
    }

    /** Whether it can be repacked: no block has parts of several matrices. */
    private boolean canBePacked() {
        for (Block block : blocks) {
            boolean isWithinOne = block.firstRow / rows == (block.firstRow + block.rows - 1) / rows;
            if (!isWithinOne && (block.firstRow % rows != 0 || block.rows % rows != 0)) {
                return false;
            }
        }
        return true;
    }

    /** Bytes that {@link #pack} takes. */
    public long packedBytes() {
        long bytes = 0;
        for (Block block : blocks) {
            bytes += canBePacked() ? OwnedMemory.taken(panelBytes(block)) : 0;
        }
        return bytes;
    }

    private long panelBytes(Block block) {
        Panel panel = Panel.of(block.type, compute).orElseThrow();
        int runRows = Math.min(rows, block.rows);
        long count = (long) block.rows / runRows * Panel.count(runRows);
        return Math.multiplyExact(count, panel.bytes(columns));
    }

    /**
     * Repacks all blocks into panels, on all threads; false, and nothing happens, where a block has parts of several
     * matrices.
     */
    public boolean pack(WorkerPool pool, MachineCode code) {
        if (!canBePacked()) {
            return false;
        }
        var panels = new PackedBlock[blocks.length];
        for (int i = 0; i < panels.length; i++) {
            Block block = blocks[i];
            Panel panel = Panel.of(block.type, compute).orElseThrow();
            int runRows = Math.min(rows, block.rows);
            OwnedMemory.Piece target = code.memory().allocateForFilling(panelBytes(block));
            var empty = new PackedBlock(panel, block.type, columns, runRows, target.memory(), true);
            panels[i] = PackedBlock.fill(pool, code.tiles(compute), empty, new PackedBlock.Filling(block, target));
        }
        packed = panels;
        isInTiles = code.multipliesInTiles(compute);
        return true;
    }

    /** Whether machine code reads it. */
    public boolean isPacked() {
        return packed.length > 0;
    }

    /** Whether its products are those of AMX tiles. */
    public boolean isInTiles() {
        return isInTiles;
    }

    /** The panels of a block. */
    public PackedBlock packed(int block) {
        return packed[block];
    }

    /** The precision of its products in machine code. */
    public Compute compute() {
        return compute;
    }

    /** Columns, with the zeros that the panels of its blocks have. */
    public int paddedColumns() {
        return packed[0].panel().paddedColumns(columns);
    }

    /** The blocks in the order of their rows, which count through all matrices. */
    public Block[] blocks() {
        return blocks;
    }

    /** The block that has a row, counted through all matrices. */
    public Block blockOf(int row) {
        return blocks[blockIndexOf(row)];
    }

    public int blockIndexOf(int row) {
        int low = 0;
        int high = blocks.length - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (blocks[middle].firstRow <= row) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    /** Writes a row, counted through all matrices, as float32. */
    public void dequantizeRow(int row, float[] target) {
        Block block = blockOf(row);
        long at = (row - block.firstRow) * block.rowBytes;
        block.dequantizer.dequantize(block.data, at, target, 0, columns);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int matrices() {
        return matrices;
    }

    @Override
    public int rows() {
        return rows;
    }

    @Override
    public int columns() {
        return columns;
    }
}
