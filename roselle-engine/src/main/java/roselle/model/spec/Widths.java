package roselle.model.spec;

import roselle.backend.step.StepLimits;

/**
 * How many numbers per row each part of the workspace needs, the most that any layer asks for.
 *
 * @param projected queries, keys and values, or a latent query with its latent
 * @param attended what attention returns
 * @param inner both halves of a feed-forward
 * @param routed choices of a row
 * @param expertInner both halves of one expert
 * @param experts logits of a router
 */
public record Widths(int projected, int attended, int inner, int routed, int expertInner, int experts) {
    private static final int UNIT = 8; // numbers that fast kernels read at a time

    public static Widths of(DecoderSpec spec) {
        var widths = new Widths(1, 1, Math.max(1, spec.layerInputs()), 1, 1, 1);
        for (LayerSpec layer : spec.layers()) {
            widths = widths.max(attention(layer.attention(), spec.width())).max(feedForward(layer.feedForward()));
        }
        return widths;
    }

    private static Widths attention(AttentionSpec spec, int width) {
        return switch (spec) {
            case AttentionSpec.None none -> new Widths(1, 1, 1, 1, 1, 1);
            case AttentionSpec.MultiHead heads -> {
                var shape = heads.heads();
                int keys = shape.keyHeads() * (shape.keySize() + shape.valueSize());
                int gates = heads.gated() ? shape.queryHeads() * shape.valueSize() : 0;
                IndexSpec choice = heads.traits().index();
                int index = choice == null ? 0 : choice.products();
                yield new Widths(
                        shape.queryHeads() * shape.keySize() + gates + keys + index,
                        shape.queryHeads() * shape.valueSize(),
                        1,
                        1,
                        1,
                        1);
            }
            case AttentionSpec.SharedKeys shared -> attention(shared.heads(), width);
            case AttentionSpec.Latent latent -> {
                int perHead = latent.querySize() + latent.cachedSize() + latent.rank();
                int shared = Math.max(1, latent.queryRank()) + latent.cachedSize();
                int index = latent.index() == null ? 0 : latent.index().products();
                yield new Widths(
                        latent.heads() * perHead + shared + index + latent.gateNumbers(),
                        latent.heads() * latent.valueSize(),
                        1,
                        1,
                        1,
                        1);
            }
            case AttentionSpec.Compressed compressed ->
                new Widths(compressed.products(), compressed.heads() * compressed.size(), 1, 1, 1, 1);
            case AttentionSpec.DeltaNet delta -> {
                var heads = delta.heads();
                int projected = delta.products() + heads.channels() + delta.raised();
                yield new Widths(projected, heads.values(), 1, 1, 1, 1);
            }
            case AttentionSpec.ShortConvolution convolution -> new Widths(4 * width, width, 1, 1, 1, 1);
            case AttentionSpec.Lightning lightning -> {
                var heads = lightning.heads();
                yield new Widths(heads.channels() + heads.values(), heads.values(), 1, 1, 1, 1);
            }
            case AttentionSpec.Scan scan -> new Widths(scan.products(), scan.channels(), 1, 1, 1, 1);
            case AttentionSpec.HeadsAndSpace both ->
                attention(both.heads(), width).max(attention(both.space(), width));
            case AttentionSpec.StateSpace space -> {
                var heads = space.heads();
                int products = heads.values() + heads.channels() + heads.valueHeads();
                yield new Widths(products + heads.channels(), heads.values(), 1, 1, 1, 1);
            }
        };
    }

    private static Widths feedForward(FeedForwardSpec spec) {
        return switch (spec) {
            case FeedForwardSpec.None none -> new Widths(1, 1, 1, 1, 1, 1);
            case FeedForwardSpec.Plain plain -> new Widths(1, 1, plain.size(), 1, 1, 1);
            case FeedForwardSpec.Gated gated -> new Widths(1, 1, 2 * gated.size(), 1, 1, 1);
            case FeedForwardSpec.Experts experts ->
                new Widths(
                        1,
                        1,
                        Math.max(
                                Math.max(1, 2 * experts.sharedSize()),
                                experts.traits().latent()),
                        experts.choices(),
                        2 * experts.size(),
                        experts.sharesAlike() ? experts.experts() + 1 : experts.experts());
            case FeedForwardSpec.Beside both -> feedForward(both.dense()).max(feedForward(both.experts()));
        };
    }

    private Widths max(Widths other) {
        return new Widths(
                Math.max(projected, other.projected),
                Math.max(attended, other.attended),
                Math.max(inner, other.inner),
                Math.max(routed, other.routed),
                Math.max(expertInner, other.expertInner),
                Math.max(experts, other.experts));
    }

    /** Columns of the widest weight. */
    int columns(DecoderSpec spec) {
        HyperConnections hyper = spec.block().connections();
        int most = Math.max(hyper == null ? spec.width() : hyper.count() * spec.width(), attended);
        for (LayerSpec layer : spec.layers()) {
            most = Math.max(most, columns(layer.feedForward()));
            if (layer.attention() instanceof AttentionSpec.Compressed compressed) {
                most = Math.max(most, Math.max(compressed.queryRank(), compressed.groups() * compressed.groupRank()));
            }
            if (layer.attention() instanceof AttentionSpec.Latent latent) {
                most = Math.max(most, Math.max(latent.queryRank(), Math.max(latent.querySize(), latent.rank())));
            }
        }
        return most;
    }

    private static int columns(FeedForwardSpec spec) {
        return switch (spec) {
            case FeedForwardSpec.None none -> 1;
            case FeedForwardSpec.Plain plain -> plain.size();
            case FeedForwardSpec.Gated gated -> gated.size();
            case FeedForwardSpec.Experts experts ->
                Math.max(
                        Math.max(experts.size(), experts.sharedSize()),
                        experts.traits().latent());
            case FeedForwardSpec.Beside both -> Math.max(columns(both.dense()), columns(both.experts()));
        };
    }

    /** The widest rows that products may read, where not all sizes of the decoder are multiples of 8; else 0. */
    int odd(DecoderSpec spec) {
        boolean isOdd = spec.width() % UNIT != 0
                || (spec.input().layers() != null && spec.input().layers().size() % UNIT != 0);
        for (LayerSpec layer : spec.layers()) {
            isOdd |= isOdd(layer.attention()) || isOdd(layer.feedForward());
        }
        int widest = Math.max(Math.max(projected, attended), Math.max(inner, expertInner));
        return isOdd ? Math.max(widest, spec.width()) : 0;
    }

    private static boolean isOdd(AttentionSpec spec) {
        return switch (spec) {
            case AttentionSpec.None none -> false;
            case AttentionSpec.MultiHead heads ->
                heads.heads().queryHeads() * heads.heads().keySize() % UNIT != 0
                        || heads.heads().keyHeads() * heads.heads().keySize() % UNIT != 0
                        || heads.heads().queryHeads() * heads.heads().valueSize() % UNIT != 0
                        || heads.heads().keyHeads() * heads.heads().valueSize() % UNIT != 0;
            case AttentionSpec.SharedKeys shared -> isOdd(shared.heads());
            case AttentionSpec.Latent latent ->
                latent.queryRank() % UNIT != 0
                        || latent.cachedSize() % UNIT != 0
                        || latent.heads() * latent.querySize() % UNIT != 0
                        || latent.heads() * latent.rank() % UNIT != 0
                        || latent.heads() * latent.valueSize() % UNIT != 0;
            case AttentionSpec.Compressed compressed ->
                compressed.size() % UNIT != 0 || compressed.queryRank() % UNIT != 0;
            case AttentionSpec.DeltaNet delta ->
                delta.heads().keys() % UNIT != 0
                        || delta.heads().values() % UNIT != 0
                        || delta.rank() % UNIT != 0
                        || (delta.products() - delta.heads().channels()) % UNIT != 0;
            case AttentionSpec.ShortConvolution convolution -> false;
            case AttentionSpec.Lightning lightning ->
                lightning.heads().keys() % UNIT != 0 || lightning.heads().values() % UNIT != 0;
            case AttentionSpec.Scan scan ->
                scan.channels() % UNIT != 0 || scan.rank() % UNIT != 0 || scan.stateSize() % UNIT != 0;
            case AttentionSpec.HeadsAndSpace both -> isOdd(both.heads()) || isOdd(both.space());
            case AttentionSpec.StateSpace space ->
                space.heads().keys() % UNIT != 0
                        || space.heads().values() % UNIT != 0
                        || space.heads().valueHeads() % UNIT != 0;
        };
    }

    private static boolean isOdd(FeedForwardSpec spec) {
        return switch (spec) {
            case FeedForwardSpec.None none -> false;
            case FeedForwardSpec.Plain plain -> plain.size() % UNIT != 0;
            case FeedForwardSpec.Gated gated -> gated.size() % UNIT != 0;
            case FeedForwardSpec.Experts experts ->
                experts.size() % UNIT != 0
                        || experts.sharedSize() % UNIT != 0
                        || experts.traits().latent() % UNIT != 0;
            case FeedForwardSpec.Beside both -> isOdd(both.dense()) || isOdd(both.experts());
        };
    }

    /** Numbers of a router's product, which may have the gate of a shared expert beside its logits; a multiple of 8. */
    public int routerProducts() {
        return (experts + UNIT) / UNIT * UNIT;
    }

    /** Numbers of the whole workspace but the logits. */
    public long elements(DecoderSpec spec, StepLimits limits) {
        long stream = 4L * spec.width(); // hidden, two normalised, delta
        long routing = routerProducts() + 1L + (long) routed * (expertInner + spec.width() + 2);
        long chosen = spec.chosenPositions();
        Streams streams = spec.block().streams();
        long beside = streams == null ? 0 : (long) streams.vectors() * spec.width() + streams.small() - spec.width();
        long lasting = streams == null ? 0 : (long) streams.count() * spec.width();
        HyperConnections hyper = spec.block().connections();
        if (hyper != null) { // what a half gives lies with the streams
            beside += (long) (hyper.vectors() - 1) * spec.width() + hyper.coefficients();
            lasting += 2L * hyper.count() * spec.width() + hyper.count();
        }
        long perRow = stream
                + projected
                + attended
                + inner
                + routing
                + spec.layerInputs()
                + chosen
                + beside
                + 2L * spec.distanceScores()
                + spec.taskNumbers();
        return perRow * limits.maxRows()
                + limits.maxOutputs() * ((spec.transformsOutput() ? 2L : 1L) * spec.width() + lasting);
    }
}
