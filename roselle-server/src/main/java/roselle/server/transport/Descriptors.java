package roselle.server.transport;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Descriptors of files and sockets: how many this process may have, and how many it has.
 *
 * @param most as many as it may have
 * @param open as many as it has
 */
record Descriptors(long most, long open) {
    /** Kept back for files: models, keys, logs, what the JVM opens when it first needs it. */
    static final int RESERVE = 24;

    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final Path OPEN = Path.of("/proc/self/fd");
    private static final String LINE = "Max open files";

    /** Those of this process; empty where the system has no such limit. */
    static Optional<Descriptors> ofThisProcess() {
        if (Files.isReadable(LIMITS)) {
            return ofProc();
        }
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                ? Optional.of(new Descriptors(system.getMaxFileDescriptorCount(), system.getOpenFileDescriptorCount()))
                : Optional.empty();
    }

    private static Optional<Descriptors> ofProc() {
        try (Stream<Path> open = Files.list(OPEN);
                Stream<String> lines = Files.lines(LIMITS)) {
            long count = open.count();
            return lines.filter(line -> line.startsWith(LINE))
                    .map(line -> line.substring(LINE.length()).strip().split("\\s+", 2)[0])
                    .filter(most -> most.chars().allMatch(Character::isDigit))
                    .map(most -> new Descriptors(Long.parseLong(most), count))
                    .findFirst();
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** How many connections there is room for. */
    int connections() {
        return Math.clamp(most - open - RESERVE, 0, Integer.MAX_VALUE);
    }
}
