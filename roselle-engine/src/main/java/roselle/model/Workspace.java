package roselle.model;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.operation.ChosenPositions;
import roselle.backend.operation.Routing;
import roselle.backend.step.StepLimits;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.HyperConnections;
import roselle.model.spec.IndexSpec;
import roselle.model.spec.Streams;
import roselle.model.spec.TaskSpec;
import roselle.model.spec.Widths;
import roselle.model.weights.Store;
import roselle.tensor.DataType;

/** The rows between operations, allocated once for the largest step and shared by all layers. */
final class Workspace {
    final Rows hidden; // [maxRows, width], the residual stream
    final Rows normed; // [maxRows, width]
    final Rows otherNormed; // [maxRows, width], of the second half of a parallel block
    final Rows delta; // [maxRows, width], what a block adds before it is normalised
    final Buffer projected; // queries, keys and values
    final Buffer attended;
    final Buffer inner;
    final Rows routerProducts; // [maxRows, at least experts + 1]
    final Routing routing;
    final Buffer expertInner; // [maxRows * chosen, ...]
    final Rows expertOutputs; // [maxRows * chosen, width]
    final Rows sharedGate; // [maxRows, 1]
    final @Nullable StreamRows streams;
    final @Nullable HyperRows hyper;
    private final @Nullable ChosenPositions chosen; // [maxRows, most]
    private final @Nullable Rows tasksOfTokens; // [maxRows, numbers]
    private final @Nullable Rows queryScores; // [maxRows, heads * kinds], of what queries add by distance
    private final @Nullable Rows keyScores; // the same of keys
    private final @Nullable Rows layerInputs; // [maxRows, layers * size]
    final Rows last; // [maxOutputs, width]
    final Rows
            transformed; // the same; what logits are made of, the last numbers themselves where nothing is made of them
    final Rows logits; // [maxOutputs, vocabulary]

    Workspace(DecoderSpec spec, StepLimits limits, Store store, DataType type) {
        var widths = Widths.of(spec);
        int rows = limits.maxRows();
        Streams side = spec.block().streams();
        streams = side == null ? null : StreamRows.allocate(side, spec.width(), limits, store, type);
        hidden = streams == null ? rows(store, type, rows, spec.width()) : streams.hidden();
        normed = rows(store, type, rows, spec.width());
        otherNormed = rows(store, type, rows, spec.width());
        HyperConnections connections = spec.block().connections();
        hyper = connections == null ? null : HyperRows.allocate(connections, spec.width(), limits, store, type);
        delta = hyper == null ? rows(store, type, rows, spec.width()) : hyper.given();
        projected = store.allocate(type, (long) rows * widths.projected());
        attended = store.allocate(type, (long) rows * widths.attended());
        inner = store.allocate(type, (long) rows * widths.inner());
        routerProducts = rows(store, type, rows, widths.routerProducts());
        long choices = (long) rows * widths.routed();
        routing = new Routing(
                store.allocate(DataType.I32, choices), store.allocate(DataType.F32, choices), widths.routed());
        expertInner = store.allocate(type, choices * widths.expertInner());
        expertOutputs = rows(store, type, choices, spec.width());
        sharedGate = rows(store, type, rows, 1);
        IndexSpec index = spec.anyIndex();
        chosen = index == null
                ? null
                : new ChosenPositions(
                        store.allocate(DataType.I32, (long) rows * spec.chosenPositions()),
                        index.choices(),
                        index.block(),
                        index.chosen(),
                        spec.chosenTokens(),
                        index.isPooled());
        TaskSpec tasks = spec.input().tasks();
        tasksOfTokens = tasks == null ? null : rows(store, type, rows, tasks.numbers());
        int scores = spec.distanceScores();
        queryScores = scores == 0 ? null : rows(store, type, rows, scores);
        keyScores = scores == 0 ? null : rows(store, type, rows, scores);
        layerInputs = spec.layerInputs() == 0 ? null : rows(store, type, rows, spec.layerInputs());
        last = rows(store, type, limits.maxOutputs(), spec.width());
        transformed = spec.transformsOutput() ? rows(store, type, limits.maxOutputs(), spec.width()) : last;
        logits = rows(store, DataType.F32, spec.generates() ? limits.maxOutputs() : 1, spec.vocabulary());
    }

    /** The same place for layers whose rows have fewer choices. */
    Routing routing(int choices) {
        return new Routing(routing.experts(), routing.weights(), choices);
    }

    /** The positions that rows attend to, for decoders that choose them. */
    ChosenPositions chosen() {
        return requireNonNull(chosen, "chosen");
    }

    /** What adapters of tasks know of tokens, for encoders that have such. */
    Rows tasksOfTokens() {
        return requireNonNull(tasksOfTokens, "tasksOfTokens");
    }

    /** What queries add to scores by distance. */
    Rows queryScores() {
        return requireNonNull(queryScores, "queryScores");
    }

    /** What keys add to scores by distance. */
    Rows keyScores() {
        return requireNonNull(keyScores, "keyScores");
    }

    /** What all layers are told of a token, for decoders that tell them. */
    Rows layerInputs() {
        return requireNonNull(layerInputs, "layerInputs");
    }

    private static Rows rows(Store store, DataType type, long rows, int columns) {
        return Rows.of(store.allocate(type, rows * columns), columns);
    }
}
