package roselle.backend.reference;

import roselle.backend.memory.Rows;
import roselle.backend.operation.Connection;

/** What few families do with rows that lie side by side, as the formulas say. */
final class ReferenceStreams {
    private ReferenceStreams() {}

    static void sparsify(Rows gates, float deviations, int rows) {
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(gates, r);
            double mean = 0;
            for (float one : x) {
                mean += (double) one / x.length;
            }
            double variance = 0;
            for (float one : x) {
                variance += (one - mean) * (one - mean) / x.length;
            }
            double bound = mean + deviations * Math.sqrt(variance);
            ReferenceOperations.store(gates, r, i -> Math.max(0, x[i] - bound));
        }
    }

    static void mix(Rows input, Rows coefficients, int width, Rows output, int rows) {
        int inputs = input.columns() / width;
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(input, r);
            float[] c = ReferenceBuffer.row(coefficients, r);
            ReferenceOperations.store(output, r, at -> {
                double sum = 0;
                for (int i = 0; i < inputs; i++) {
                    sum += (double) c[at / width * inputs + i] * x[i * width + at % width];
                }
                return sum;
            });
        }
    }

    static void addAsLongAs(Rows input, Rows like, Rows output, int rows) {
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(input, r);
            double factor = length(ReferenceBuffer.row(like, r)) / Math.max(length(x), Math.sqrt(1e-5));
            float[] before = ReferenceBuffer.row(output, r);
            ReferenceOperations.store(output, r, i -> before[i] + factor * x[i]);
        }
    }

    private static double length(float[] x) {
        double sum = 0;
        for (float one : x) {
            sum += (double) one * one / x.length;
        }
        return Math.sqrt(sum);
    }

    static void connect(Rows products, Connection connection, Rows coefficients, int rows) {
        int n = connection.streams();
        Connection.Taken taken = connection.taken();
        for (int r = 0; r < rows; r++) {
            float[] x = ReferenceBuffer.row(products, r);
            double[][] square = connection.rounds() == 0 ? identity(n) : square(x, connection);
            ReferenceOperations.store(coefficients.columns(0, connection.coefficients()), r, at -> {
                if (taken == null || at < n) {
                    return sigmoid(x[at]) + connection.epsilon();
                }
                int stream = (at - n) / (n + 1);
                int vector = (at - n) % (n + 1);
                if (vector == (connection.givenFirst() ? 0 : n)) {
                    return taken.magnitude() * sigmoid(x[n + stream]) + taken.offset();
                }
                return square[vector - (connection.givenFirst() ? 1 : 0)][stream];
            });
        }
    }

    private static double[][] identity(int n) {
        var square = new double[n][n];
        for (int i = 0; i < n; i++) {
            square[i][i] = 1;
        }
        return square;
    }

    private static double[][] square(float[] x, Connection connection) {
        int n = connection.streams();
        var square = new double[n][n];
        for (int i = 0; i < n; i++) {
            double total = 0;
            for (int j = 0; j < n; j++) {
                square[i][j] = Math.exp(x[2 * n + i * n + j]);
                total += square[i][j];
            }
            for (int j = 0; j < n; j++) {
                square[i][j] = square[i][j] / total + connection.epsilon();
            }
        }
        for (int round = 0; round < connection.rounds(); round++) {
            for (int i = 0; i < n && round > 0; i++) {
                double total = connection.epsilon();
                for (int j = 0; j < n; j++) {
                    total += square[i][j];
                }
                for (int j = 0; j < n; j++) {
                    square[i][j] /= total;
                }
            }
            for (int j = 0; j < n; j++) {
                double total = connection.epsilon();
                for (int i = 0; i < n; i++) {
                    total += square[i][j];
                }
                for (int i = 0; i < n; i++) {
                    square[i][j] /= total;
                }
            }
        }
        return square;
    }

    private static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }
}
