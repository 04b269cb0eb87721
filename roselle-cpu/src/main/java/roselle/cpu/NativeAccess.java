package roselle.cpu;

import java.util.concurrent.atomic.AtomicBoolean;
import roselle.cpu.machine.Processor;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.vector.Lanes;

/** Warns where machine code could run but for a flag of Java. */
final class NativeAccess {
    private static final System.Logger LOG = System.getLogger(NativeAccess.class.getName());
    private static final AtomicBoolean HAS_WARNED = new AtomicBoolean();

    private NativeAccess() {}

    /** Once per process, and only where the best path was left to us: vectors of 256 bits say that there is a better one. */
    static void warnIfMissed(CpuOptions options) {
        boolean isMissed = options.path() == CpuPath.AUTO && Processor.lacksOnlyNativeAccess() && Lanes.COUNT >= 8;
        if (isMissed && HAS_WARNED.compareAndSet(false, true)) {
            LOG.log(System.Logger.Level.WARNING, warning(Processor.class.getModule()));
        }
    }

    static String warning(Module module) {
        String who = module.isNamed() ? "the module " + module.getName() : "the class path";
        String flag = "--enable-native-access=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
        return "Java does not allow native access to " + who + ", so the CPU multiplies by the Vector API and not by"
                + " machine code: prompts are read more slowly, with AMX by more than ten times. Start Java with "
                + flag;
    }
}
