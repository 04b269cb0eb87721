package roselle.model;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Router;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.NormSpec;
import roselle.model.weights.Floats;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.quantization.StoredMatrix;

/** Brings the feed-forward half of a layer from a checkpoint to a store. */
final class FeedForwardLoader {
    private final DecoderSpec spec;
    private final TensorSource tensors;
    private final Rearrangement rearrangement;
    private final Store store;
    private final Workspace workspace;

    FeedForwardLoader(
            DecoderSpec spec, TensorSource tensors, Rearrangement rearrangement, Store store, Workspace workspace) {
        this.spec = spec;
        this.tensors = tensors;
        this.rearrangement = rearrangement;
        this.store = store;
        this.workspace = workspace;
    }

    Layer.FeedForward load(FeedForwardSpec feedForward, int layer) {
        return switch (feedForward) {
            case FeedForwardSpec.None _ -> new Layer.NoFeedForward();
            case FeedForwardSpec.Plain plain -> plain(plain, layer, Part.UP, Part.DOWN);
            case FeedForwardSpec.Gated gated -> gated(gated, layer, Part.GATE, Part.UP, Part.DOWN);
            case FeedForwardSpec.Experts experts -> experts(experts, layer, null, null);
            case FeedForwardSpec.Beside both -> beside(both, layer);
        };
    }

    private Layer.Beside beside(FeedForwardSpec.Beside both, int layer) {
        FeedForwardSpec.Gated dense = both.dense();
        Buffer scales = store.constants(
                tensors.vector(Part.EXPERT_SCALE, layer, both.experts().experts()));
        return new Layer.Beside(
                gated(dense, layer, Part.GATE, Part.UP, Part.DOWN),
                norm(Part.POST_DENSE_NORM, layer),
                routerNorm(layer),
                norm(Part.PRE_EXPERTS_NORM, layer),
                experts(both.experts(), layer, scales, new ExpertSum(workspace.otherNormed, 1f, false)),
                norm(Part.POST_EXPERTS_NORM, layer));
    }

    private Norm norm(Part part, int layer) {
        NormSpec kind = spec.norm();
        Buffer weight = store.constants(tensors.vector(part, layer, spec.width()));
        return new Norm(kind.kind(), weight, kind.weightOffset(), null, kind.epsilon());
    }

    /** The norm before a router, whose input is divided by the root of its width. */
    private Norm routerNorm(int layer) {
        float[] weight = tensors.vector(Part.ROUTER_NORM, layer, spec.width());
        for (int i = 0; i < weight.length; i++) {
            weight[i] = (float) (weight[i] / Math.sqrt(spec.width()));
        }
        return new Norm(
                spec.norm().kind(),
                store.constants(weight),
                0f,
                null,
                spec.norm().epsilon());
    }

    private Layer.Plain plain(FeedForwardSpec.Plain plain, int layer, Part up, Part down) {
        Buffer upBias = plain.bias() ? store.constants(tensors.bias(up, layer, plain.size())) : null;
        return new Layer.Plain(
                matrix(up, layer, plain.size(), spec.width()),
                new Epilogue(upBias, plain.activation(), 1f, false),
                plain.xielu(),
                Rows.of(workspace.inner, plain.size()),
                matrix(down, layer, spec.width(), plain.size()),
                LayerLoader.addedTo(spec.block(layer), downBias(plain.bias(), down, layer)),
                new Layer.ActivationApart(
                        Epilogue.bias(upBias), Gate.of(plain.activation()), store.ones(plain.size())));
    }

    private Layer.Gated gated(FeedForwardSpec.Gated kind, int layer, Part gatePart, Part upPart, Part downPart) {
        int size = kind.size();
        Rows all = Rows.of(workspace.inner, 2 * size);
        List<StoredMatrix> blocks = gateAndUp(size, layer, gatePart, upPart);
        Buffer gateBias = null;
        if (kind.bias()) {
            gateBias = store.constants(
                    Floats.concatenate(tensors.bias(gatePart, layer, size), tensors.bias(upPart, layer, size)));
        }
        var product = new GatedLinear(
                store.load("layer " + layer + " " + gatePart + ", " + upPart, 1, blocks),
                Epilogue.bias(gateBias),
                all,
                all.columns(0, size),
                all.columns(size, size),
                kind.gate());
        return new Layer.Gated(
                        product,
                        matrix(downPart, layer, spec.width(), size),
                        LayerLoader.addedTo(spec.block(layer), downBias(kind.downBias(), downPart, layer)),
                        kind.deviations(),
                        kind.gateScale())
                .scaled(kind.scale());
    }

    private List<StoredMatrix> gateAndUp(int size, int layer, Part gatePart, Part upPart) {
        Part together = gatePart == Part.GATE ? Part.GATE_UP : Part.SHARED_GATE_UP;
        if (tensors.has(together, layer)) {
            return List.of(product(together, layer, 2 * size, spec.width()));
        }
        if (gatePart == Part.GATE && tensors.has(Part.UP_GATE, layer)) {
            StoredMatrix both = product(Part.UP_GATE, layer, 2 * size, spec.width());
            return List.of(both.rows(size, size), both.rows(0, size));
        }
        return List.of(product(gatePart, layer, size, spec.width()), product(upPart, layer, size, spec.width()));
    }

    private @Nullable Buffer downBias(boolean bias, Part part, int layer) {
        return bias ? store.constants(tensors.bias(part, layer, spec.width())) : null;
    }

    private Layer.Experts experts(
            FeedForwardSpec.Experts experts, int layer, @Nullable Buffer scales, @Nullable ExpertSum apart) {
        int size = experts.size();
        boolean gated = experts.traits().gated();
        Rows both = Rows.of(workspace.expertInner, experts.firstRows());
        Rows outputs = experts.traits().latent() == 0
                ? workspace.expertOutputs
                : Rows.of(workspace.expertOutputs.buffer(), experts.traits().latent());
        var stacks = new ExpertTensors(tensors, rearrangement, experts, spec.width());
        Buffer routerBias =
                experts.bias() ? store.constants(tensors.bias(Part.ROUTER, layer, experts.experts())) : null;
        StoredMatrix routing = product(Part.ROUTER, layer, experts.experts(), spec.width());
        StoredMatrix sharedGate = sharedGate(experts, layer);
        boolean isJoined = isJoined(routing, sharedGate) && !experts.bias();
        Rows logits = workspace.routerProducts.columns(0, experts.experts());
        Weight routerWeight = store.load(
                "layer " + layer + " " + Part.ROUTER,
                1,
                isJoined ? List.of(routing, requireNonNull(sharedGate)) : List.of(routing));
        boolean normalizes = experts.normalizes() || experts.traits().weighsInputs();
        Router router = router(experts, layer, scales, normalizes);
        List<StoredMatrix> gatesAndUps = stacks.gateAndUp(layer);
        List<StoredMatrix> downs = stacks.down(layer);
        SharedMatrices last = sharedGate == null || isJoined ? stackedShared(experts, layer, gatesAndUps, downs) : null;
        Rows routed = logits;
        if (last != null) {
            router = router.with(new Router.Shared(experts.traits().sharedScale(), experts.sharedGate()));
            routed = workspace.routerProducts.columns(0, experts.experts() + (experts.sharedGate() ? 1 : 0));
        }
        var products = new ExpertProducts(
                first(experts, layer, gatesAndUps, stacks.gateAndUpBias(layer), last),
                both,
                both.columns(0, size),
                gated ? both.columns(size, size) : null,
                experts.gate(),
                new ExpertLinear(
                        stack("down", layer, experts, downs, last == null ? List.of() : last.down()),
                        biased(stacks.downBias(layer)),
                        true),
                outputs);
        Layer.Shared shared = last != null ? null : shared(experts, layer, isJoined ? null : sharedGate);
        Router weigher = experts.traits().weighsInputs() ? router(experts, layer, scales, experts.normalizes()) : null;
        Layer.LatentStream latent = latent(experts, layer);
        return new Layer.Experts(
                routerWeight,
                Epilogue.bias(routerBias),
                isJoined ? workspace.routerProducts.columns(0, experts.experts() + 1) : logits,
                routed,
                router,
                workspace.routing(router.choices()),
                products,
                apart != null ? apart : sum(layer, shared, latent),
                last == null ? null : Layer.LastChoice.of(products, experts.chosen()),
                shared,
                weigher,
                latent,
                tensors.isNamed(Part.EXPERTS_BIAS, layer) ? bias(layer) : null);
    }

    /** The matrices of a shared expert that becomes the last of a stack. */
    private record SharedMatrices(List<StoredMatrix> gateAndUp, List<StoredMatrix> down) {}

    /** Those of a layer, where a device wants them so and all experts are as the shared one; else null. */
    private @Nullable SharedMatrices stackedShared(
            FeedForwardSpec.Experts experts, int layer, List<StoredMatrix> gatesAndUps, List<StoredMatrix> downs) {
        if (!store.stacksSharedExperts() || !experts.sharesAlike()) {
            return null;
        }
        var shared = new SharedMatrices(
                gateAndUp(experts.size(), layer, Part.SHARED_GATE, Part.SHARED_UP),
                List.of(product(Part.SHARED_DOWN, layer, spec.width(), experts.size())));
        return areAlike(gatesAndUps, shared.gateAndUp()) && areAlike(downs, shared.down()) ? shared : null;
    }

    /** Whether all are numbers of one type. */
    private static boolean areAlike(List<StoredMatrix> some, List<StoredMatrix> others) {
        return some.getFirst() instanceof StoredMatrix.Whole first
                && Stream.concat(some.stream(), others.stream())
                        .allMatch(matrix -> matrix instanceof StoredMatrix.Whole whole
                                && whole.codes().type() == first.codes().type());
    }

    /** What is added to the sum of the experts, for tokens of each type. */
    private Weight bias(int layer) {
        StoredMatrix row = tensors.oneRow(Part.EXPERTS_BIAS, layer, spec.width());
        int types = Math.max(1, spec.input().types());
        return store.loadTable("layer " + layer + " " + Part.EXPERTS_BIAS, rearrangement.repeat(row, types));
    }

    /** What experts give to the stream, or to what is made of them before. */
    private ExpertSum sum(int layer, Layer.@Nullable Shared shared, Layer.@Nullable LatentStream latent) {
        if (latent != null) {
            return new ExpertSum(latent.sum(), 1f, false);
        }
        if (spec.block(layer).givesApart()) {
            return new ExpertSum(workspace.delta, 1f, shared != null);
        }
        Rows gate = shared == null ? null : shared.gateLogit();
        Rows given = gate == null ? null : workspace.delta;
        return new ExpertSum(workspace.hidden, spec.block().residualScale(), true, given, gate);
    }

    private ExpertLinear first(
            FeedForwardSpec.Experts experts,
            int layer,
            List<StoredMatrix> blocks,
            float[] bias,
            @Nullable SharedMatrices last) {
        boolean gated = experts.traits().gated();
        Weight weight =
                stack(gated ? "gate, up" : "up", layer, experts, blocks, last == null ? List.of() : last.gateAndUp());
        return new ExpertLinear(
                weight, gated ? biased(bias) : new Epilogue(null, experts.gate().activation(), 1f, false), false);
    }

    private Epilogue biased(float[] bias) {
        return Epilogue.bias(bias.length == 0 ? null : store.constants(bias));
    }

    private Layer.@Nullable LatentStream latent(FeedForwardSpec.Experts experts, int layer) {
        int latent = experts.traits().latent();
        return latent == 0
                ? null
                : new Layer.LatentStream(
                        matrix(Part.EXPERTS_INPUT, layer, latent, spec.width()),
                        Rows.of(workspace.inner, latent),
                        Rows.of(workspace.otherNormed.buffer(), latent),
                        matrix(Part.EXPERTS_OUTPUT, layer, spec.width(), latent),
                        LayerLoader.addedTo(spec.block(layer), null));
    }

    private Router router(FeedForwardSpec.Experts experts, int layer, @Nullable Buffer scales, boolean normalizes) {
        Buffer correction = null;
        if (experts.correction()) {
            correction = store.constants(tensors.vector(Part.ROUTER_CORRECTION, layer, experts.experts()));
        }
        return new Router(
                experts.scoring(),
                experts.experts(),
                experts.chosen(),
                normalizes,
                experts.groups(),
                experts.chosenGroups(),
                correction,
                experts.scale(),
                scales,
                experts.traits().ofTokens() ? ofTokens(experts, layer) : null,
                experts.traits().nearness());
    }

    private Buffer ofTokens(FeedForwardSpec.Experts experts, int layer) {
        return store.constants(tensors.wholeNumbers(
                Part.ROUTER_TABLE, layer, (long) spec.vocabulary() * experts.chosen(), experts.experts()));
    }

    private Weight stack(
            String name,
            int layer,
            FeedForwardSpec.Experts experts,
            List<StoredMatrix> blocks,
            List<StoredMatrix> shared) {
        String full = "layer " + layer + " experts " + name;
        return shared.isEmpty()
                ? store.load(full, experts.experts(), blocks)
                : store.loadWithShared(full, experts.experts(), blocks, shared);
    }

    private @Nullable StoredMatrix sharedGate(FeedForwardSpec.Experts experts, int layer) {
        return experts.sharedSize() != 0 && experts.sharedGate()
                ? tensors.oneRow(Part.SHARED_EXPERT_GATE, layer, spec.width())
                : null;
    }

    /** Whether one product gives both: they read the same rows. */
    private static boolean isJoined(StoredMatrix router, @Nullable StoredMatrix sharedGate) {
        return sharedGate != null
                && router instanceof StoredMatrix.Whole
                && sharedGate instanceof StoredMatrix.Whole
                && router.codes().type() == sharedGate.codes().type();
    }

    /** The shared expert, and its gate as a weight of its own where the router does not have it. */
    private Layer.@Nullable Shared shared(FeedForwardSpec.Experts experts, int layer, @Nullable StoredMatrix gate) {
        if (experts.sharedSize() == 0) {
            return null;
        }
        if (!experts.traits().gated()) {
            var plain = new FeedForwardSpec.Plain(
                    experts.sharedSize(), experts.gate().activation(), false);
            return new Layer.Shared(plain(plain, layer, Part.SHARED_UP, Part.SHARED_DOWN), null, null);
        }
        var kind = new FeedForwardSpec.Gated(experts.sharedSize(), experts.sharedGating(), false);
        Layer.Gated expert = gated(kind, layer, Part.SHARED_GATE, Part.SHARED_UP, Part.SHARED_DOWN);
        if (!experts.sharedGate()) {
            return new Layer.Shared(expert.scaled(experts.traits().sharedScale()), null, null);
        }
        if (gate == null) {
            Rows logit = workspace.routerProducts.columns(experts.experts(), 1);
            return new Layer.Shared(expert.intoDelta(), null, logit);
        }
        Weight row = store.load("layer " + layer + " gate of the shared expert", 1, List.of(gate));
        return new Layer.Shared(expert.intoDelta(), row, workspace.sharedGate);
    }

    private Weight matrix(Part part, int layer, int rows, int columns) {
        return store.load("layer " + layer + " " + part, 1, List.of(product(part, layer, rows, columns)));
    }

    private StoredMatrix product(Part part, int layer, int rows, int columns) {
        return tensors.product(part, layer, rows, columns, rearrangement);
    }
}
