package roselle.cpu.gemm;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.cpu.memory.CpuWeight;

/**
 * What one product works on: set as a whole before the threads start, read by all of them.
 *
 * <p>Many rows take several passes. Where tables name the rows of the input and of the output, a pass counts places in the tables,
 * else rows.
 */
public final class GemmCall {
    private @Nullable Rows input;
    private @Nullable CpuWeight weight;
    private @Nullable Epilogue epilogue;
    private @Nullable Rows output;
    private int @Nullable [] inputRows; // null where rows come as they are
    private int @Nullable [] outputRows;
    private int first;
    private int count;

    /** A product of rows as they come. */
    void begin(Rows from, CpuWeight matrix, Epilogue ending, Rows to) {
        input = from;
        weight = matrix;
        epilogue = ending;
        output = to;
        inputRows = null;
        outputRows = null;
    }

    /** Has the rows of the product named by tables. */
    void tables(int[] inputs, int[] outputs) {
        inputRows = inputs;
        outputRows = outputs;
    }

    /** Goes on with so many rows. */
    void pass(int firstRow, int rows) {
        first = firstRow;
        count = rows;
    }

    Rows input() {
        return requireNonNull(input, "input");
    }

    CpuWeight weight() {
        return requireNonNull(weight, "weight");
    }

    Epilogue epilogue() {
        return requireNonNull(epilogue, "epilogue");
    }

    Rows output() {
        return requireNonNull(output, "output");
    }

    /** The first row of this pass. */
    int first() {
        return first;
    }

    /** Rows of this pass. */
    int count() {
        return count;
    }

    int inputRow(int index) {
        int[] table = inputRows;
        return table == null ? index : table[index];
    }

    int outputRow(int index) {
        int[] table = outputRows;
        return table == null ? index : table[index];
    }
}
