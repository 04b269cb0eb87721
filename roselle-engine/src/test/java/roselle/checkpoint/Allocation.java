package roselle.checkpoint;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Counts the bytes that a thread has allocated. */
final class Allocation {
    private Allocation() {}

    static long ofThisThread() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }
}
