package roselle.cpu.option;

import roselle.cpu.thread.Cores;

/**
 * How the CPU is used.
 *
 * @param threads that share each operation, the caller's included
 * @param path how products are computed
 * @param precision what their factors are rounded to
 */
public record CpuOptions(int threads, CpuPath path, Precision precision) {
    public static CpuOptions of(int threads) {
        return new CpuOptions(threads, CpuPath.AUTO, Precision.AUTO);
    }

    /** A thread per core. */
    public static CpuOptions all() {
        return of(Cores.count());
    }

    public CpuOptions with(CpuPath value) {
        return new CpuOptions(threads, value, precision);
    }

    public CpuOptions with(Precision value) {
        return new CpuOptions(threads, path, value);
    }
}
