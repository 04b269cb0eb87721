package roselle.cpu.adapter;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.OwnMatrix;
import roselle.backend.memory.Weight;

/**
 * An adapter in native memory, by the weights that it changes.
 *
 * <p>Its arena is the collector's: a step that was launched ahead may still read an adapter that nobody else knows of any more.
 */
public final class CpuAdapter implements Adapter {
    private final IdentityHashMap<Weight, @Nullable Addition[]> products = new IdentityHashMap<>(); // [matrices]
    private final OfTokens tables = new OfTokens();
    private final OfTokens logits = new OfTokens();
    private final Arena arena = Arena.ofAuto();
    private long bytes;

    /** What is added to, or stands for, matrices with a row for each token. */
    private static final class OfTokens {
        private final IdentityHashMap<Weight, Addition> additions = new IdentityHashMap<>();
        private final IdentityHashMap<Weight, OwnRows> own = new IdentityHashMap<>();
    }

    /** Where parts that are one addition belong. */
    private record Place(Weight weight, AdapterPart.Use use, int matrix) {}

    private CpuAdapter() {}

    /** Copies the matrices. */
    public static CpuAdapter of(List<? extends AdapterPart> parts) {
        var adapter = new CpuAdapter();
        var byWeight = new IdentityHashMap<Weight, List<LowRank>>();
        for (AdapterPart part : parts) {
            switch (part) {
                case LowRank each ->
                    byWeight.computeIfAbsent(each.weight(), _ -> new ArrayList<>())
                            .add(each);
                case OwnMatrix own -> adapter.add(own);
            }
        }
        byWeight.values().forEach(adapter::add);
        return adapter;
    }

    private void add(OwnMatrix own) {
        var rows = new OwnRows(own, arena);
        ofTokens(own.use()).own.put(own.weight(), rows);
        bytes += rows.bytes();
    }

    /** All of a weight, by its uses and its matrices. */
    private void add(List<LowRank> ofWeight) {
        var byPlace = new LinkedHashMap<Place, List<LowRank>>();
        for (LowRank each : ofWeight) {
            var place = new Place(each.weight(), kind(each.use()), each.matrix());
            byPlace.computeIfAbsent(place, _ -> new ArrayList<>()).add(each);
        }
        for (Map.Entry<Place, List<LowRank>> each : byPlace.entrySet()) {
            var addition = new Addition(each.getValue(), arena);
            put(each.getKey(), addition);
            bytes += addition.bytes();
        }
    }

    /** Products are one kind, whatever is behind them. */
    private static AdapterPart.Use kind(AdapterPart.Use use) {
        return switch (use) {
            case PRODUCT, ACTIVATED_PRODUCT, EXPERT -> AdapterPart.Use.PRODUCT;
            case TABLE, LOGITS -> use;
        };
    }

    private void put(Place place, Addition addition) {
        if (place.use == AdapterPart.Use.PRODUCT) {
            products.computeIfAbsent(place.weight, weight -> new Addition[weight.matrices()])[place.matrix] = addition;
        } else {
            ofTokens(place.use).additions.put(place.weight, addition);
        }
    }

    private OfTokens ofTokens(AdapterPart.Use use) {
        return use == AdapterPart.Use.TABLE ? tables : logits;
    }

    /** What is added to products with a weight that is no stack, or to the last of one that is. */
    @Nullable
    Addition to(Weight weight) {
        @Nullable Addition[] all = products.get(weight);
        return all == null ? null : all[all.length - 1];
    }

    /** What is added to each matrix of a stack; null for nothing. */
    @Nullable
    Addition @Nullable [] toStack(Weight weight) {
        return products.get(weight);
    }

    @Nullable
    Addition toTable(Weight weight) {
        return tables.additions.get(weight);
    }

    @Nullable
    Addition toLogits(Weight weight) {
        return logits.additions.get(weight);
    }

    @Nullable
    OwnRows tableFor(Weight weight) {
        return tables.own.get(weight);
    }

    @Nullable
    OwnRows logitsFor(Weight weight) {
        return logits.own.get(weight);
    }

    @Override
    public long bytes() {
        return bytes;
    }
}
