package roselle.bench.environment;

import java.util.List;
import java.util.stream.Stream;

/** Measures the energy of a time span. */
public interface EnergyMeter {
    /** A span that has begun. */
    interface Span {
        /** Ends it; what was used since its begin. */
        Energy end();
    }

    Span begin();

    /** Every meter of this machine: cards by their own counters, else NVIDIA's by their power, and processors whose counter may be read; empty where there is none. */
    static List<EnergyMeter> available() {
        return Stream.of(DeviceEnergy.find().or(NvidiaEnergy::find), ProcessorEnergy.find())
                .flatMap(meter -> meter.stream())
                .toList();
    }
}
