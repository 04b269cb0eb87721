package roselle.cpu;

import java.lang.foreign.MemorySegment;
import java.util.List;
import roselle.backend.Weight;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/** Matrices as the checkpoint stores them: blocks of rows, each of one type, read in place. */
final class CpuWeight implements Weight {
    /** Consecutive rows of one type, without gaps between them. */
    record Block(
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

    CpuWeight(String name, int matrices, List<Tensor> tensors) {
        this.name = name;
        this.matrices = matrices;
        columns = Math.toIntExact(tensors.getFirst().shape().columns());
        blocks = new Block[tensors.size()];
        int firstRow = 0;
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = block(tensors.get(i), firstRow);
            firstRow = Math.addExact(firstRow, blocks[i].rows);
        }
        if (matrices < 1 || firstRow % matrices != 0) {
            throw new IllegalArgumentException(
                    "weight " + name + " has " + firstRow + " rows for " + matrices + " matrices");
        }
        rows = firstRow / matrices;
    }

    private Block block(Tensor tensor, int firstRow) {
        if (tensor.shape().columns() != columns) {
            throw new IllegalArgumentException("weight " + name + " has blocks of " + columns + " and of "
                    + tensor.shape().columns() + " columns");
        }
        int blockRows = Math.toIntExact(tensor.shape().rows());
        DataType type = tensor.type();
        long rowBytes = type.rowBytes(columns);
        return new Block(type, Formats.of(type), Dequantizer.of(type), firstRow, blockRows, rowBytes, tensor.data());
    }

    /** The blocks in the order of their rows, which count through all matrices. */
    Block[] blocks() {
        return blocks;
    }

    /** The block that has a row, counted through all matrices. */
    Block blockOf(int row) {
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
        return blocks[low];
    }

    /** Writes a row, counted through all matrices, as float32. */
    void dequantizeRow(int row, float[] target) {
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
