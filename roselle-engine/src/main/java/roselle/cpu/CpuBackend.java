package roselle.cpu;

/** The CPU as a device. */
public final class CpuBackend {
    private CpuBackend() {}
}
