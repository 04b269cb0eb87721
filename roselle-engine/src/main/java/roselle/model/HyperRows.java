package roselle.model;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import roselle.backend.memory.Rows;
import roselle.backend.step.StepLimits;
import roselle.model.spec.HyperConnections;
import roselle.model.weights.Store;
import roselle.tensor.DataType;

/**
 * Rows of streams that halves of layers are connected to. All vectors lie side by side: the streams before attention, what a half gives,
 * and the streams before the feed-forward, so that each mix reads neighbours.
 *
 * @param before the streams before attention, {@code [rows, count * width]}
 * @param streams of {@code before}, one by one
 * @param given what a half gives, {@code [rows, width]}
 * @param between the streams before the feed-forward
 * @param withBefore {@code before} and what is given
 * @param withBetween what is given, and {@code between}
 * @param normed all streams as one row, normalised
 * @param products of all streams, in the place of which coefficients come
 * @param coefficients what becomes of them, {@code [rows, count * (count + 2)]}
 * @param read of these, what is read of each stream
 * @param mixed of these, how streams go on
 * @param last the streams of rows whose logits are wanted, {@code [outputs, count * width]}
 */
record HyperRows(
        Rows before,
        List<Rows> streams,
        Rows given,
        Rows between,
        Rows withBefore,
        Rows withBetween,
        Rows normed,
        Rows products,
        Rows coefficients,
        Rows read,
        Rows mixed,
        Rows last,
        Rows lastNormed,
        Rows lastCoefficients) {
    static HyperRows allocate(HyperConnections kind, int width, StepLimits limits, Store store, DataType type) {
        int count = kind.count();
        int streams = count * width;
        Rows all = rows(store, type, limits.maxRows(), 2 * streams + width);
        Rows coefficients = rows(store, type, limits.maxRows(), kind.coefficients());
        return new HyperRows(
                all.columns(0, streams),
                IntStream.range(0, count)
                        .mapToObj(i -> all.columns(i * width, width))
                        .toList(),
                all.columns(streams, width),
                all.columns(streams + width, streams),
                all.columns(0, streams + width),
                all.columns(streams, streams + width),
                rows(store, type, limits.maxRows(), streams),
                coefficients.columns(0, kind.products()),
                coefficients,
                coefficients.columns(0, count),
                coefficients.columns(count, count * (count + 1)),
                rows(store, type, limits.maxOutputs(), streams),
                rows(store, type, kind.endsAsMean() ? 1 : limits.maxOutputs(), streams),
                kind.endsAsMean()
                        ? shares(store, limits.maxOutputs(), count)
                        : rows(store, type, limits.maxOutputs(), count));
    }

    /** Coefficients of a mean. */
    private static Rows shares(Store store, int rows, int count) {
        var shares = new float[rows * count];
        Arrays.fill(shares, 1f / count);
        return Rows.of(store.constants(shares), count);
    }

    private static Rows rows(Store store, DataType type, long rows, int columns) {
        return Rows.of(store.allocate(type, rows * columns), columns);
    }
}
