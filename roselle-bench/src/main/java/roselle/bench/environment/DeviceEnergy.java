package roselle.bench.environment;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.ServiceLoader;
import roselle.backend.DeviceSensors;

/** The energy of cards that count it themselves, as their driver's library tells. */
final class DeviceEnergy implements EnergyMeter {
    private final DeviceSensors sensors;

    private DeviceEnergy(DeviceSensors sensors) {
        this.sensors = sensors;
    }

    static Optional<EnergyMeter> find() {
        return find(ServiceLoader.load(DeviceSensors.class));
    }

    /** The meter of the first sensors that are there, if each of their cards counts. */
    static Optional<EnergyMeter> find(Iterable<DeviceSensors> all) {
        for (DeviceSensors sensors : all) {
            if (sensors.unavailable().isEmpty() && millijoules(sensors.read()).isPresent()) {
                return Optional.of(new DeviceEnergy(sensors));
            }
        }
        return Optional.empty();
    }

    /** Millijoules of all cards since their driver was loaded. */
    private static OptionalLong millijoules(List<DeviceSensors.Reading> readings) {
        long sum = 0;
        for (DeviceSensors.Reading reading : readings) {
            if (reading.energyMillijoules().isEmpty()) {
                return OptionalLong.empty();
            }
            sum += reading.energyMillijoules().getAsLong();
        }
        return OptionalLong.of(sum);
    }

    @Override
    public Span begin() {
        long before = millijoules(sensors.read()).orElse(0);
        return () -> {
            long used = millijoules(sensors.read()).orElse(before) - before;
            return new Energy("the cards' own counters (NVML), all cards", used / 1e3);
        };
    }
}
