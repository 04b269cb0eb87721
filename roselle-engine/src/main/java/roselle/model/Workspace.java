package roselle.model;

import roselle.backend.Backend;
import roselle.backend.Buffer;
import roselle.backend.Routing;
import roselle.backend.Rows;
import roselle.backend.StepLimits;
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
    final Buffer routerLogits;
    final Routing routing;
    final Buffer expertInner; // [maxRows * chosen, ...]
    final Rows expertOutputs; // [maxRows * chosen, width]
    final Rows sharedGate; // [maxRows, 1]
    final Rows last; // [maxOutputs, width]
    final Rows logits; // [maxOutputs, vocabulary]

    Workspace(DecoderSpec spec, StepLimits limits, Backend backend) {
        var widths = Widths.of(spec);
        int rows = limits.maxRows();
        DataType type = backend.activationType();
        hidden = rows(backend, type, rows, spec.width());
        normed = rows(backend, type, rows, spec.width());
        otherNormed = rows(backend, type, rows, spec.width());
        delta = rows(backend, type, rows, spec.width());
        projected = backend.allocate(type, (long) rows * widths.projected());
        attended = backend.allocate(type, (long) rows * widths.attended());
        inner = backend.allocate(type, (long) rows * widths.inner());
        routerLogits = backend.allocate(type, (long) rows * widths.experts());
        long choices = (long) rows * widths.routed();
        routing = new Routing(
                backend.allocate(DataType.I32, choices), backend.allocate(DataType.F32, choices), widths.routed());
        expertInner = backend.allocate(type, choices * widths.expertInner());
        expertOutputs = rows(backend, type, choices, spec.width());
        sharedGate = rows(backend, type, rows, 1);
        last = rows(backend, type, limits.maxOutputs(), spec.width());
        logits = rows(backend, DataType.F32, limits.maxOutputs(), spec.vocabulary());
    }

    private static Rows rows(Backend backend, DataType type, long rows, int columns) {
        return Rows.of(backend.allocate(type, rows * columns), columns);
    }
}
