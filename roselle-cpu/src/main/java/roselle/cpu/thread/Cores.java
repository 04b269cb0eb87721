package roselle.cpu.thread;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashSet;

/**
 * How many cores this process may compute on: two hardware threads of one core share its vector units, and a spinning
 * barrier makes each wait for the other, so that a thread for each gains nothing.
 *
 * <p>Linux tells which processors belong to one core and which of them the process may run on; where that is not told, each
 * processor counts as a core. A container's share of time bounds the number in either case.
 */
public final class Cores {
    private static final Path PROCESSORS = Path.of("/sys/devices/system/cpu");
    private static final Path STATUS = Path.of("/proc/self/status");

    /**
     * Weights of a thread at least. A core reads them in about 0.3 ms, and the threads of a step meet some fifty times, a
     * few microseconds each while nobody else is on the cores, and far more where somebody is.
     */
    static final long MIN_BYTES = 8 << 20;

    private static final String ALLOWED = "Cpus_allowed_list:";

    private Cores() {}

    /** At least 1. */
    public static int count() {
        return count(PROCESSORS, STATUS, Runtime.getRuntime().availableProcessors());
    }

    /**
     * How many threads are worth their meetings for a model: one for each core, but none with less than
     * {@link #MIN_BYTES} of weights to read in a step.
     */
    public static int worthwhile(long weightBytes) {
        return worthwhile(weightBytes, count());
    }

    static int worthwhile(long weightBytes, int cores) {
        return Math.clamp(weightBytes / MIN_BYTES, 1, cores);
    }

    static int count(Path processors, Path status, int available) {
        int cores;
        try {
            cores = cores(processors, allowed(status));
        } catch (IOException | IllegalArgumentException notTold) {
            cores = 0;
        }
        return cores == 0 ? available : Math.min(cores, available);
    }

    /** Processors that the process may run on, as the kernel lists them. */
    private static BitSet allowed(Path status) throws IOException {
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith(ALLOWED)) {
                return list(line.substring(ALLOWED.length()));
            }
        }
        throw new IOException(status + " does not tell");
    }

    /** Distinct cores among those processors; 0 where one of them does not tell its core. */
    private static int cores(Path processors, BitSet allowed) throws IOException {
        var cores = new HashSet<BitSet>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(processors, "cpu[0-9]*")) {
            for (Path folder : folders) {
                int number = Integer.parseInt(folder.getFileName().toString().substring("cpu".length()));
                if (allowed.get(number)) {
                    cores.add(list(Files.readString(folder.resolve("topology/thread_siblings_list"))));
                }
            }
        }
        return cores.size();
    }

    /** The kernel's lists: {@code 0-3,8,10-11}. */
    static BitSet list(String text) {
        var numbers = new BitSet();
        for (String part : text.strip().split(",", -1)) {
            int dash = part.indexOf('-');
            int first = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
            int last = dash < 0 ? first : Integer.parseInt(part.substring(dash + 1));
            numbers.set(first, last + 1);
        }
        return numbers;
    }
}
