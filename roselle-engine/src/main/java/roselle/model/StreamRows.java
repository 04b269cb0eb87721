package roselle.model;

import java.util.List;
import java.util.stream.IntStream;
import roselle.backend.memory.Rows;
import roselle.backend.step.StepLimits;
import roselle.model.spec.Streams;
import roselle.model.weights.Store;
import roselle.tensor.DataType;

/**
 * Rows of streams side by side.
 *
 * @param width numbers of a stream
 * @param all the streams between layers, {@code [rows, streams * width]}
 * @param streams of {@code all}, one by one
 * @param predicted what a layer predicts of them and, last, what it computes, {@code [rows, (streams + 1) * width]}
 * @param firstPredicted of these
 * @param hidden what a layer computes in, the last of these
 * @param routed what a router says, {@code [rows, streams]}
 * @param coefficients of a mix, {@code [rows, streams * (streams + 1)]}
 * @param narrow between the two narrow products, {@code [rows, rank]}
 * @param last the streams of rows whose logits are wanted, {@code [outputs, streams * width]}
 * @param lastStreams of these, one by one
 */
record StreamRows(
        int width,
        Rows all,
        List<Rows> streams,
        Rows predicted,
        Rows firstPredicted,
        Rows hidden,
        Rows routed,
        Rows coefficients,
        Rows narrow,
        Rows last,
        List<Rows> lastStreams) {
    static StreamRows allocate(Streams streams, int width, StepLimits limits, Store store, DataType type) {
        int count = streams.count();
        Rows all = rows(store, type, limits.maxRows(), count * width);
        Rows predicted = rows(store, type, limits.maxRows(), (count + 1) * width);
        Rows last = rows(store, type, limits.maxOutputs(), count * width);
        return new StreamRows(
                width,
                all,
                parts(all, width, count),
                predicted,
                predicted.columns(0, width),
                predicted.columns(count * width, width),
                rows(store, type, limits.maxRows(), count),
                rows(store, type, limits.maxRows(), streams.coefficients()),
                rows(store, type, limits.maxRows(), streams.rank()),
                last,
                parts(last, width, count));
    }

    private static List<Rows> parts(Rows all, int width, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> all.columns(i * width, width))
                .toList();
    }

    private static Rows rows(Store store, DataType type, long rows, int columns) {
        return Rows.of(store.allocate(type, rows * columns), columns);
    }
}
