package roselle.backend.reference;

import java.util.List;
import roselle.backend.memory.Weight;
import roselle.quantization.StoredMatrix;

/** Matrices as float32, one after the other. */
final class ReferenceWeight implements Weight {
    private final String name;
    private final int matrices;
    private final int rows;
    private final int columns;
    private final float[] numbers;

    private ReferenceWeight(String name, int matrices, int rows, int columns, float[] numbers) {
        this.name = name;
        this.matrices = matrices;
        this.rows = rows;
        this.columns = columns;
        this.numbers = numbers;
    }

    static ReferenceWeight of(String name, int matrices, List<StoredMatrix> blocks) {
        int columns = Math.toIntExact(blocks.getFirst().shape().columns());
        int all = Math.toIntExact(
                blocks.stream().mapToLong(block -> block.shape().rows()).sum());
        var numbers = new float[all * columns];
        int at = 0;
        for (StoredMatrix block : blocks) {
            float[] one = block.numbers();
            System.arraycopy(one, 0, numbers, at, one.length);
            at += one.length;
        }
        return new ReferenceWeight(name, matrices, all / matrices, columns, numbers);
    }

    /** The product of a row, counted through all matrices, with numbers from a place on. */
    double dot(int row, float[] x, int from) {
        double sum = 0;
        for (int i = 0; i < columns; i++) {
            sum += (double) numbers[row * columns + i] * x[from + i];
        }
        return sum;
    }

    /** A number of a row, counted through all matrices. */
    float number(int row, int column) {
        return numbers[row * columns + column];
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
