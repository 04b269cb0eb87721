package roselle.engine;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** How much memory the machine, or the container that the process runs in, has. */
final class MachineMemory {
    private MachineMemory() {}

    static long bytes() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean machine
                ? machine.getTotalMemorySize()
                : Long.MAX_VALUE;
    }
}
