package roselle.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Convolution;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.DeltaNet;
import roselle.backend.operation.DeltaRule;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.backend.operation.SelectiveScan;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.DecoderSpec;
import roselle.model.weights.Floats;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.quantization.StoredMatrix;

/** Brings the layers that keep a state in the place of keys and values from a checkpoint to a store. */
final class StateLoader {
    private final DecoderSpec spec;
    private final TensorSource tensors;
    private final Rearrangement rearrangement;
    private final Store store;
    private final Workspace workspace;

    StateLoader(DecoderSpec spec, TensorSource tensors, Rearrangement rearrangement, Store store, Workspace workspace) {
        this.spec = spec;
        this.tensors = tensors;
        this.rearrangement = rearrangement;
        this.store = store;
        this.workspace = workspace;
    }

    /** A delta net; its places are that of its convolution and that of its states. */
    Layer.DeltaNet deltaNet(AttentionSpec.DeltaNet delta, int layer, List<LayerPlace> places) {
        DeltaHeads heads = delta.heads();
        int channels = heads.channels();
        int products = delta.products();
        Rows all = Rows.of(workspace.projected, products + channels + delta.raised());
        Rows convolved = all.columns(products, channels);
        Rows attended = Rows.of(workspace.attended, heads.values());
        Rows gates = delta.rank() == 0
                ? all.columns(channels, heads.values())
                : all.columns(products + channels, heads.values());
        Rows a = delta.rank() == 0
                ? all.columns(channels + heads.values(), heads.decays())
                : all.columns(products + channels + heads.values(), heads.decays());
        var rule = new DeltaRule(
                places.get(1).group(),
                places.get(1).layer(),
                heads,
                rate(Part.DELTA_RATE, Part.DELTA_RATE_LOGARITHM, heads.valueHeads(), layer),
                timeBias(heads, layer),
                null,
                delta.strength(),
                delta.least());
        Buffer norm = store.constants(tensors.vector(Part.DELTA_NORM, layer, heads.valueSize()));
        var net = new DeltaNet(
                all.columns(0, channels),
                convolution(places.getFirst(), taps(heads, delta.taps(), layer), delta.taps(), null, Activation.SILU),
                convolved,
                convolved.columns(0, heads.keys()),
                convolved.columns(heads.keys(), heads.keys()),
                convolved.columns(2 * heads.keys(), heads.values()),
                a,
                all.columns(products - heads.valueHeads(), heads.valueHeads()),
                rule,
                attended,
                Rows.of(workspace.attended, heads.valueSize()),
                new Norm(Norm.Kind.RMS, norm, 0f, null, delta.epsilon()),
                gates,
                Gate.of(delta.gate()));
        return new Layer.DeltaNet(
                store.load("layer " + layer + " query, key, value, gate, a, b", 1, projections(delta, layer)),
                all.columns(0, products),
                delta.rank() == 0 ? List.of() : raises(delta, layer, all, gates, a),
                net,
                matrix(Part.DELTA_OUTPUT, layer, spec.width(), heads.values()),
                LayerLoader.addedTo(spec.block(layer), null));
    }

    /** A short convolution. */
    Layer.ShortConvolution shortConvolution(AttentionSpec.ShortConvolution kind, int layer, LayerPlace place) {
        int width = spec.width();
        Rows both = Rows.of(workspace.projected, 4 * width);
        Buffer inputBias =
                kind.bias() ? store.constants(tensors.bias(Part.CONVOLUTION_INPUT, layer, 3L * width)) : null;
        Buffer bias = kind.bias() ? store.constants(tensors.bias(Part.CONVOLUTION, layer, width)) : null;
        Buffer outputBias = kind.bias() ? store.constants(tensors.bias(Part.CONVOLUTION_OUTPUT, layer, width)) : null;
        return new Layer.ShortConvolution(
                matrix(Part.CONVOLUTION_INPUT, layer, 3 * width, width),
                Epilogue.bias(inputBias),
                both.columns(0, 3 * width),
                both.columns(0, width),
                both.columns(width, width),
                both.columns(2 * width, width),
                convolution(place, taps(width, kind.taps(), layer), kind.taps(), bias, Activation.NONE),
                both.columns(3 * width, width),
                Rows.of(workspace.attended, width),
                matrix(Part.CONVOLUTION_OUTPUT, layer, width, width),
                LayerLoader.addedTo(spec.block(layer), outputBias));
    }

    /** A state space; its places are that of its convolution and that of its states. */
    Layer.StateSpace stateSpace(AttentionSpec.StateSpace space, int layer, List<LayerPlace> places) {
        DeltaHeads heads = space.heads();
        int channels = heads.channels();
        int products = heads.values() + channels + heads.valueHeads();
        Rows both = Rows.of(workspace.projected, products + channels);
        Rows convolved = both.columns(products, channels);
        Rows attended = Rows.of(workspace.attended, heads.values());
        Buffer bias = space.bias() ? store.constants(tensors.bias(Part.SPACE_INPUT, layer, products)) : null;
        Buffer outputBias = space.bias() ? store.constants(tensors.bias(Part.SPACE_OUTPUT, layer, spec.width())) : null;
        Buffer taps = space.convolutionBias() ? store.constants(tensors.bias(Part.CONVOLUTION, layer, channels)) : null;
        return new Layer.StateSpace(
                matrix(Part.SPACE_INPUT, layer, products, spec.width()),
                Epilogue.bias(bias),
                both.columns(0, products),
                both.columns(0, heads.values()),
                both.columns(heads.values(), channels),
                both.columns(heads.values() + channels, heads.valueHeads()),
                convolution(places.getFirst(), scaledTaps(space, layer), space.taps(), taps, Activation.SILU),
                convolved,
                convolved.columns(0, heads.values()),
                convolved.columns(heads.values(), heads.keys()),
                convolved.columns(heads.values() + heads.keys(), heads.keys()),
                space.scales().gate(),
                space.scales().time(),
                spaceRule(space, layer, places.get(1)),
                attended,
                space.normalizes() ? normedParts(space, layer, attended) : List.of(),
                matrix(Part.SPACE_OUTPUT, layer, spec.width(), heads.values()),
                LayerLoader.addedTo(spec.block(layer), outputBias)
                        .scaled(space.scales().output()));
    }

    /** A selective state space of channels; its places are that of its convolution and that of its states. */
    Layer.Scan scan(AttentionSpec.Scan kind, int layer, List<LayerPlace> places) {
        int channels = kind.channels();
        int size = kind.stateSize();
        Rows all = Rows.of(workspace.projected, kind.products());
        Rows telling = all.columns(3 * channels, kind.rank() + 2 * size);
        Rows attended = Rows.of(workspace.attended, channels);
        Buffer bias = kind.bias() ? store.constants(tensors.bias(Part.SPACE_INPUT, layer, 2L * channels)) : null;
        Buffer taps = kind.convolutionBias() ? store.constants(tensors.bias(Part.CONVOLUTION, layer, channels)) : null;
        Buffer outputBias = kind.bias() ? store.constants(tensors.bias(Part.SPACE_OUTPUT, layer, spec.width())) : null;
        var scan = new SelectiveScan(
                places.get(1).group(),
                places.get(1).layer(),
                scanRate(kind, layer),
                store.constants(tensors.bias(Part.SCAN_TIME, layer, channels)),
                store.constants(tensors.vector(Part.SPACE_SKIP, layer, channels)));
        return new Layer.Scan(
                matrix(Part.SPACE_INPUT, layer, 2 * channels, spec.width()),
                Epilogue.bias(bias),
                all.columns(0, 2 * channels),
                all.columns(0, channels),
                all.columns(channels, channels),
                convolution(places.getFirst(), taps(channels, kind.taps(), layer), kind.taps(), taps, Activation.SILU),
                all.columns(2 * channels, channels),
                matrix(Part.SCAN_INPUT, layer, telling.columns(), channels),
                telling,
                telling.columns(0, kind.rank()),
                telling.columns(kind.rank(), size),
                telling.columns(kind.rank() + size, size),
                scanNorm(kind, Part.SCAN_TIME_NORM, layer, kind.rank()),
                scanNorm(kind, Part.SCAN_B_NORM, layer, size),
                scanNorm(kind, Part.SCAN_C_NORM, layer, size),
                matrix(Part.SCAN_TIME, layer, channels, kind.rank()),
                all.columns(3 * channels + telling.columns(), channels),
                scan,
                attended,
                matrix(Part.SPACE_OUTPUT, layer, spec.width(), channels),
                LayerLoader.addedTo(spec.block(layer), outputBias));
    }

    /** Of what a convolved row tells, with weights where a checkpoint has them. */
    private @Nullable Norm scanNorm(AttentionSpec.Scan kind, Part part, int layer, int size) {
        if (!kind.normalizes()) {
            return null;
        }
        var weight = new float[size];
        Arrays.fill(weight, 1f);
        if (tensors.isNamed(part, layer)) {
            weight = tensors.vector(part, layer, size);
        }
        return new Norm(Norm.Kind.RMS, store.constants(weight), 0f, null, kind.epsilon());
    }

    /** Rates that are stored as {@code [channels, stateSize]}, or their logarithms. */
    private Buffer scanRate(AttentionSpec.Scan kind, int layer) {
        boolean isLogarithm = tensors.isNamed(Part.SPACE_RATE_LOGARITHM, layer);
        Part part = isLogarithm ? Part.SPACE_RATE_LOGARITHM : Part.SPACE_RATE;
        float[] stored = tensors.vector(part, layer, (long) kind.channels() * kind.stateSize());
        var turned = new float[stored.length];
        for (int i = 0; i < stored.length; i++) {
            int at = i % kind.stateSize() * kind.channels() + i / kind.stateSize();
            turned[at] = isLogarithm ? (float) -Math.exp(stored[i]) : stored[i];
        }
        return store.constants(turned);
    }

    /** Lightning attention: queries, keys and values of each head lie together in a checkpoint. */
    Layer.Lightning lightning(AttentionSpec.Lightning kind, int layer, LayerPlace place) {
        DeltaHeads heads = kind.heads();
        int size = heads.keySize();
        int channels = heads.channels();
        Rows all = Rows.of(workspace.projected, channels + heads.values());
        Rows attended = Rows.of(workspace.attended, heads.values());
        StoredMatrix together = product(Part.QUERY_KEY_VALUE, layer, channels, spec.width());
        StoredMatrix apart = rearrangement.reorder(
                together, row -> (row % heads.keys() / size * 3 + row / heads.keys()) * size + row % size);
        var none = new float[heads.valueHeads()];
        var rule = new DeltaRule(
                place.group(),
                place.layer(),
                heads,
                store.constants(powers(heads.valueHeads(), kind.share())),
                store.constants(none),
                new DeltaRule.Space(store.constants(none), 1f, 1f));
        Buffer norm = store.constants(tensors.vector(Part.SPACE_NORM, layer, heads.values()));
        return new Layer.Lightning(
                store.load("layer " + layer + " query, key, value", 1, List.of(apart)),
                new Epilogue(null, Activation.SILU, 1f, false),
                all.columns(0, channels),
                matrix(Part.ATTENTION_GATE, layer, heads.values(), spec.width()),
                all.columns(channels, heads.values()),
                all.columns(0, heads.keys()),
                all.columns(heads.keys(), heads.keys()),
                all.columns(2 * heads.keys(), heads.values()),
                all.columns(0, heads.valueHeads()),
                rule,
                attended,
                new Norm(Norm.Kind.RMS, norm, 0f, null, kind.epsilon()),
                matrix(Part.SPACE_OUTPUT, layer, spec.width(), heads.values()),
                LayerLoader.addedTo(spec.block(layer), null).scaled(kind.outputScale()));
    }

    /** Rates of decays: powers of two, the slopes of ALiBi where heads are a power of two. */
    private static float[] powers(int heads, float share) {
        var rates = new float[heads];
        for (int head = 0; head < heads; head++) {
            rates[head] = -share * (float) StrictMath.pow(2, -8.0 * (head + 1) / heads);
        }
        return rates;
    }

    /** The taps times what the convolution's inputs are multiplied by, which is no matter of its bias. */
    private float[] scaledTaps(AttentionSpec.StateSpace space, int layer) {
        DeltaHeads heads = space.heads();
        float[] taps = taps(heads.channels(), space.taps(), layer);
        for (int i = 0; i < taps.length; i++) {
            int channel = i / space.taps();
            float ofState = channel < heads.values() + heads.keys()
                    ? space.scales().b()
                    : space.scales().c();
            taps[i] *= channel < heads.values() ? space.scales().x() : ofState;
        }
        return taps;
    }

    private DeltaRule spaceRule(AttentionSpec.StateSpace space, int layer, LayerPlace place) {
        int count = space.heads().valueHeads();
        Buffer skip = store.constants(tensors.vector(Part.SPACE_SKIP, layer, count));
        return new DeltaRule(
                place.group(),
                place.layer(),
                space.heads(),
                rate(Part.SPACE_RATE, Part.SPACE_RATE_LOGARITHM, count, layer),
                store.constants(tensors.vector(Part.SPACE_TIME_BIAS, layer, count)),
                new DeltaRule.Space(skip, space.shortest(), space.longest()));
    }

    /** The groups of heads, each with its part of the norm. */
    private List<Layer.NormedPart> normedParts(AttentionSpec.StateSpace space, int layer, Rows attended) {
        int groups = space.heads().keyHeads();
        int size = space.heads().values() / groups;
        float[] weight = tensors.vector(Part.SPACE_NORM, layer, space.heads().values());
        var parts = new ArrayList<Layer.NormedPart>();
        for (int group = 0; group < groups; group++) {
            Buffer own = store.constants(Arrays.copyOfRange(weight, group * size, (group + 1) * size));
            var norm = new Norm(Norm.Kind.RMS, own, 0f, null, space.epsilon());
            parts.add(new Layer.NormedPart(attended.columns(group * size, size), norm));
        }
        return List.copyOf(parts);
    }

    private float[] taps(int channels, int taps, int layer) {
        return tensors.vector(Part.CONVOLUTION, layer, (long) channels * taps);
    }

    /** The taps of queries, keys and values in one, as some have them. */
    private float[] taps(DeltaHeads heads, int taps, int layer) {
        if (!tensors.has(Part.CONVOLUTION_QUERY, layer)) {
            return taps(heads.channels(), taps, layer);
        }
        return Floats.concatenate(
                tensors.vector(Part.CONVOLUTION_QUERY, layer, (long) heads.keys() * taps),
                tensors.vector(Part.CONVOLUTION_KEY, layer, (long) heads.keys() * taps),
                tensors.vector(Part.CONVOLUTION_VALUE, layer, (long) heads.values() * taps));
    }

    /** A convolution whose weights are stored as {@code [channels, taps]}. */
    private Convolution convolution(
            LayerPlace place, float[] stored, int taps, @Nullable Buffer bias, Activation activation) {
        int channels = stored.length / taps;
        var turned = new float[stored.length];
        for (int i = 0; i < stored.length; i++) {
            turned[i % taps * channels + i / taps] = stored[i];
        }
        return new Convolution(place.group(), place.layer(), taps, store.constants(turned), bias, activation);
    }

    /** Rates of decays, from themselves or from their logarithms. */
    private Buffer rate(Part plain, Part logarithm, int heads, int layer) {
        boolean isLogarithm = tensors.isNamed(logarithm, layer);
        float[] rate = tensors.vector(isLogarithm ? logarithm : plain, layer, heads);
        for (int i = 0; i < rate.length; i++) { // which some files have without their sign
            rate[i] = isLogarithm ? (float) -Math.exp(rate[i]) : -Math.abs(rate[i]);
        }
        return store.constants(rate);
    }

    private Buffer timeBias(DeltaHeads heads, int layer) {
        return store.constants(tensors.vector(Part.DELTA_TIME_BIAS, layer, heads.decays()));
    }

    /** Gates and decays out of what lies behind the channels of the first product. */
    private List<Layer.Raise> raises(AttentionSpec.DeltaNet delta, int layer, Rows all, Rows gates, Rows a) {
        int channels = delta.heads().channels();
        int rank = delta.rank();
        return List.of(
                new Layer.Raise(
                        all.columns(channels, rank),
                        matrix(Part.DELTA_GATE_UP, layer, delta.heads().values(), rank),
                        gates),
                new Layer.Raise(
                        all.columns(channels + rank, rank),
                        matrix(Part.DELTA_A_UP, layer, delta.heads().decays(), rank),
                        a));
    }

    /** Queries, keys, values, gates, a, b, in the order of the rows that they make. */
    private List<StoredMatrix> projections(AttentionSpec.DeltaNet delta, int layer) {
        DeltaHeads heads = delta.heads();
        var all = new ArrayList<StoredMatrix>();
        if (delta.rank() > 0) {
            all.add(product(Part.QUERY, layer, heads.keys(), spec.width()));
            all.add(product(Part.KEY, layer, heads.keys(), spec.width()));
            all.add(product(Part.VALUE, layer, heads.values(), spec.width()));
            all.add(product(Part.DELTA_GATE_DOWN, layer, delta.rank(), spec.width()));
            all.add(product(Part.DELTA_A_DOWN, layer, delta.rank(), spec.width()));
            all.add(product(Part.DELTA_B, layer, heads.valueHeads(), spec.width()));
            return all;
        }
        if (tensors.has(Part.DELTA_QUERY_KEY_VALUE_GATE, layer)) {
            all.add(joined(heads, layer));
        } else if (tensors.has(Part.DELTA_QUERY, layer)) {
            all.add(product(Part.DELTA_QUERY, layer, heads.keys(), spec.width()));
            all.add(product(Part.DELTA_KEY, layer, heads.keys(), spec.width()));
            all.add(product(Part.DELTA_VALUE, layer, heads.values(), spec.width()));
            all.add(product(Part.DELTA_GATE, layer, heads.values(), spec.width()));
        } else {
            all.add(product(Part.DELTA_QUERY_KEY_VALUE, layer, heads.channels(), spec.width()));
            all.add(product(Part.DELTA_GATE, layer, heads.values(), spec.width()));
        }
        if (tensors.has(Part.DELTA_B_A, layer)) {
            all.add(joinedGates(heads, layer));
        } else {
            all.add(product(Part.DELTA_A, layer, heads.decays(), spec.width()));
            all.add(product(Part.DELTA_B, layer, heads.valueHeads(), spec.width()));
        }
        return all;
    }

    /** Queries, keys, values and gates from a matrix that has all of a key head together. */
    private StoredMatrix joined(DeltaHeads heads, int layer) {
        int together = heads.valueHeads() / heads.keyHeads();
        int values = together * heads.valueSize();
        int perHead = 2 * heads.keySize() + 2 * values;
        int rows = heads.channels() + heads.values();
        StoredMatrix all = product(Part.DELTA_QUERY_KEY_VALUE_GATE, layer, rows, spec.width());
        return rearrangement.reorder(all, row -> {
            int ofKeys = row / heads.keys(); // 0 for queries, 1 for keys
            if (ofKeys < 2) {
                int inKeys = row % heads.keys();
                return inKeys / heads.keySize() * perHead + ofKeys * heads.keySize() + inKeys % heads.keySize();
            }
            int ofValues = (row - 2 * heads.keys()) / heads.values(); // 0 for values, 1 for gates
            int inValues = (row - 2 * heads.keys()) % heads.values();
            return inValues / values * perHead + 2 * heads.keySize() + ofValues * values + inValues % values;
        });
    }

    /** a and b from a matrix that has all of a key head together, b first. */
    private StoredMatrix joinedGates(DeltaHeads heads, int layer) {
        int together = heads.valueHeads() / heads.keyHeads();
        StoredMatrix gates = product(Part.DELTA_B_A, layer, 2 * heads.valueHeads(), spec.width());
        return rearrangement.reorder(gates, row -> {
            boolean isB = row >= heads.valueHeads();
            int head = row % heads.valueHeads();
            return head / together * 2 * together + (isB ? 0 : together) + head % together;
        });
    }

    private Weight matrix(Part part, int layer, int rows, int columns) {
        return store.load("layer " + layer + " " + part, 1, List.of(product(part, layer, rows, columns)));
    }

    private StoredMatrix product(Part part, int layer, int rows, int columns) {
        return tensors.product(part, layer, rows, columns, rearrangement);
    }
}
