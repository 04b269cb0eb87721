package roselle.bench.environment;

import java.util.ArrayList;
import java.util.List;

/** What the meters of a machine say of several spans together. */
public final class EnergyCount {
    private final List<EnergyMeter> meters;
    private final List<Energy> sums = new ArrayList<>();

    public EnergyCount(List<EnergyMeter> meters) {
        this.meters = List.copyOf(meters);
    }

    /** Begins a span on each meter. */
    public List<EnergyMeter.Span> begin() {
        return meters.stream().map(EnergyMeter::begin).toList();
    }

    /** Ends a span and counts it. */
    public void add(List<EnergyMeter.Span> spans) {
        for (int i = 0; i < spans.size(); i++) {
            Energy used = spans.get(i).end();
            if (i < sums.size()) {
                sums.set(i, new Energy(used.source(), sums.get(i).joules() + used.joules()));
            } else {
                sums.add(used);
            }
        }
    }

    /** One sum for each meter. */
    public List<Energy> sums() {
        return List.copyOf(sums);
    }
}
