package roselle.bench.stage;

import java.util.ArrayList;
import java.util.List;
import roselle.bench.environment.Energy;
import roselle.bench.environment.EnergyCount;
import roselle.bench.environment.EnergyMeter;
import roselle.bench.environment.ProcessorUse;

/** What the repeats of the offline work took: time, processors, energy. */
final class Spent {
    private final List<Double> seconds = new ArrayList<>();
    private final List<ProcessorUse> uses = new ArrayList<>();
    private final EnergyCount energy = new EnergyCount(EnergyMeter.available());

    /** A repeat that has begun. */
    interface Span {
        /** Ends it, after so many seconds of its own clock. */
        void end(double seconds);
    }

    /** Begins a repeat, which may be one that warms up and does not count. */
    Span begin(boolean counts, ProcessorUse.Span use) {
        if (!counts) {
            return _ -> {};
        }
        List<EnergyMeter.Span> spans = energy.begin();
        return taken -> {
            uses.add(use.end());
            energy.add(spans);
            seconds.add(taken);
        };
    }

    List<Double> seconds() {
        return List.copyOf(seconds);
    }

    ProcessorUse processors() {
        return ProcessorUse.mean(uses, seconds);
    }

    List<Energy> energy() {
        return energy.sums();
    }
}
