package roselle.backend;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Tells what devices of one kind do, whoever uses them; measurements find it on the module path. */
public interface DeviceSensors {
    /** Why nothing can be told on this machine, as a sentence; empty where it can. */
    Optional<String> unavailable();

    /**
     * One reading of each device, in a fraction of a millisecond each.
     *
     * @throws roselle.api.DeviceException if the devices cannot be asked
     */
    List<Reading> read();

    /**
     * What a device told.
     *
     * @param driver version of its driver
     * @param energyMillijoules used since the driver was loaded
     * @param powerMilliwatts drawn now
     * @param utilizationPercent of the last fraction of a second in which any kernel ran
     */
    record Reading(
            String name,
            String driver,
            OptionalLong energyMillijoules,
            OptionalLong powerMilliwatts,
            long memoryUsedBytes,
            long memoryBytes,
            OptionalInt utilizationPercent) {}
}
