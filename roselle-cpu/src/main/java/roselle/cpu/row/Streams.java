package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Connection;
import roselle.backend.operation.Xielu;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.VectorFunctions;

/** What few families do with rows that lie side by side, and with single ones by their means; each row by itself, in one order. */
public final class Streams implements RowOperation {
    private static final double LEAST_SQUARE = 1e-5;

    /** What is done. */
    private enum Kind {
        MIX,
        ADD_AS_LONG_AS,
        CONNECT,
        SPARSIFY,
        XIELU
    }

    private Kind kind = Kind.MIX;
    private @Nullable Rows input;
    private @Nullable Rows other; // coefficients, or what is as long as wanted
    private @Nullable Rows output;
    private int width;
    private float deviations;
    private @Nullable Connection connection;
    private @Nullable Xielu xielu;

    /** {@link roselle.backend.operation.Operations#mix}. */
    public Streams mixed(Rows from, Rows coefficients, int numbers, Rows to) {
        width = numbers;
        return prepare(Kind.MIX, from, coefficients, to);
    }

    /** {@link roselle.backend.operation.Operations#addAsLongAs}. */
    public Streams asLongAs(Rows from, Rows like, Rows to) {
        return prepare(Kind.ADD_AS_LONG_AS, from, like, to);
    }

    /** {@link roselle.backend.operation.Operations#connect}. */
    public Streams connected(Rows products, Connection how, Rows coefficients) {
        connection = how;
        return prepare(Kind.CONNECT, products, products, coefficients);
    }

    /** {@link roselle.backend.operation.Operations#sparsify}. */
    public Streams sparse(Rows rows, float bound) {
        deviations = bound;
        return prepare(Kind.SPARSIFY, rows, rows, rows);
    }

    /** {@link roselle.backend.operation.Operations#xielu}. */
    public Streams trained(Rows rows, Xielu curve) {
        xielu = curve;
        return prepare(Kind.XIELU, rows, rows, rows);
    }

    private Streams prepare(Kind what, Rows from, Rows beside, Rows to) {
        kind = what;
        input = from;
        other = beside;
        output = to;
        return this;
    }

    @Override
    public void run(Scratch own, int first, int end) {
        Rows from = requireNonNull(input, "input");
        Rows beside = requireNonNull(other, "other");
        Rows to = requireNonNull(output, "output");
        for (int r = first; r < end; r++) {
            switch (kind) {
                case MIX -> mix(from, beside, to, r, own);
                case ADD_AS_LONG_AS -> addAsLongAs(from, beside, to, r, own);
                case CONNECT -> connect(from, requireNonNull(connection, "connection"), to, r, own);
                case SPARSIFY -> sparsify(from, r, own);
                case XIELU -> xielu(from, r, requireNonNull(xielu, "xielu"), own);
            }
        }
    }

    private void mix(Rows from, Rows coefficients, Rows to, int r, Scratch own) {
        int inputs = from.columns() / width;
        int outputs = to.columns() / width;
        long coefficient = CpuBuffer.row(coefficients, r);
        for (int j = 0; j < outputs; j++) {
            Arrays.fill(own.y(), 0, width, 0f);
            for (int i = 0; i < inputs; i++) {
                copy(from, r, i * width, own.x(), width);
                add(own.y(), CpuBuffer.number(CpuBuffer.of(coefficients), coefficient++), own.x(), width);
            }
            store(own.y(), to, r, j * width, width);
        }
    }

    private static void connect(Rows from, Connection how, Rows to, int r, Scratch own) {
        int n = how.streams();
        copy(from, r, 0, own.x(), how.products());
        for (int i = 0; i < n; i++) {
            own.y()[i] = sigmoid(own.x()[i]) + how.epsilon();
        }
        Connection.Taken taken = how.taken();
        if (taken != null) {
            if (how.rounds() > 0) {
                square(own.x(), how);
            }
            int given = how.givenFirst() ? 0 : n;
            int streams = how.givenFirst() ? 1 : 0;
            for (int k = 0, at = n; k < n; k++, at += n + 1) {
                own.y()[at + given] = taken.magnitude() * sigmoid(own.x()[n + k]) + taken.offset();
                for (int j = 0; j < n; j++) {
                    float itself = j == k ? 1f : 0f;
                    own.y()[at + streams + j] = how.rounds() == 0 ? itself : own.x()[2 * n + j * n + k];
                }
            }
        }
        store(own.y(), to, r, 0, how.coefficients());
    }

    /** How streams go on in each other, {@code [from, to]}, in the place of its products. */
    private static void square(float[] x, Connection how) {
        int n = how.streams();
        int at = 2 * n;
        for (int row = at; row < at + n * n; row += n) {
            float largest = Float.NEGATIVE_INFINITY;
            for (int i = row; i < row + n; i++) {
                largest = Math.max(largest, x[i]);
            }
            float total = 0;
            for (int i = row; i < row + n; i++) {
                x[i] = (float) Math.exp(x[i] - largest);
                total += x[i];
            }
            for (int i = row; i < row + n; i++) {
                x[i] = x[i] / total + how.epsilon();
            }
        }
        for (int round = 0; round < how.rounds(); round++) {
            for (int i = 0; i < n && round > 0; i++) {
                divide(x, at + i * n, 1, n, how.epsilon());
            }
            for (int i = 0; i < n; i++) {
                divide(x, at + i, n, n, how.epsilon());
            }
        }
    }

    /** Divides numbers by their sum. */
    private static void divide(float[] x, int from, int step, int count, float epsilon) {
        float total = epsilon;
        for (int i = 0; i < count; i++) {
            total += x[from + i * step];
        }
        for (int i = 0; i < count; i++) {
            x[from + i * step] /= total;
        }
    }

    private static float sigmoid(float x) {
        return (float) (1 / (1 + Math.exp(-x)));
    }

    private static void addAsLongAs(Rows from, Rows like, Rows to, int r, Scratch own) {
        int columns = to.columns();
        copy(like, r, 0, own.x(), columns);
        double wanted = meanSquare(own.x(), columns);
        copy(from, r, 0, own.x(), columns);
        double there = Math.max(meanSquare(own.x(), columns), LEAST_SQUARE);
        copy(to, r, 0, own.y(), columns);
        add(own.y(), (float) Math.sqrt(wanted / there), own.x(), columns);
        store(own.y(), to, r, 0, columns);
    }

    private void sparsify(Rows rows, int r, Scratch own) {
        int columns = rows.columns();
        copy(rows, r, 0, own.x(), columns);
        double sum = 0;
        for (int i = 0; i < columns; i++) {
            sum += own.x()[i];
        }
        double mean = sum / columns;
        double squares = 0;
        for (int i = 0; i < columns; i++) {
            squares += (own.x()[i] - mean) * (own.x()[i] - mean);
        }
        float bound = (float) (mean + deviations * Math.sqrt(squares / columns));
        for (int i = 0; i < columns; i++) {
            own.x()[i] = Math.max(0f, own.x()[i] - bound);
        }
        store(own.x(), rows, r, 0, columns);
    }

    private static void xielu(Rows rows, int r, Xielu curve, Scratch own) {
        int columns = rows.columns();
        float[] x = own.x();
        float[] y = own.y();
        copy(rows, r, 0, x, columns);
        for (int i = 0; i < columns; i++) {
            y[i] = Math.min(x[i], curve.bound());
        }
        VectorFunctions.exp(y, 0, columns);
        for (int i = 0; i < columns; i++) {
            float bent = x[i] > 0 ? curve.positive() * x[i] * x[i] : curve.negative() * (y[i] - 1f - x[i]);
            x[i] = bent + curve.slope() * x[i];
        }
        store(x, rows, r, 0, columns);
    }

    private static double meanSquare(float[] numbers, int count) {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += (double) numbers[i] * numbers[i];
        }
        return sum / count;
    }

    private static void add(float[] sum, float factor, float[] numbers, int count) {
        for (int i = 0; i < count; i++) {
            sum[i] += factor * numbers[i];
        }
    }

    private static void copy(Rows rows, int row, int column, float[] target, int count) {
        long at = (CpuBuffer.row(rows, row) + column) * Float.BYTES;
        MemorySegment.copy(CpuBuffer.of(rows), JAVA_FLOAT, at, target, 0, count);
    }

    private static void store(float[] numbers, Rows rows, int row, int column, int count) {
        long at = (CpuBuffer.row(rows, row) + column) * Float.BYTES;
        MemorySegment.copy(numbers, 0, CpuBuffer.of(rows), JAVA_FLOAT, at, count);
    }
}
