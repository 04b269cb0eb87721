package roselle.bench.environment;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The machine that a measurement ran on, as results tell it. */
public final class Machine {
    private Machine() {}

    /** Names and values in a fixed order; what the system does not tell is said to be unknown. */
    public static Map<String, Object> describe() {
        var machine = new LinkedHashMap<String, Object>();
        machine.put("cpu", cpu());
        machine.put("cores", Runtime.getRuntime().availableProcessors());
        machine.put("memory_bytes", memory());
        machine.put("load_average", ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
        machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        machine.put("architecture", System.getProperty("os.arch"));
        machine.put("java", Runtime.version().toString());
        machine.put("gpus", gpus());
        return machine;
    }

    /** The revision of the sources in the current folder, with a mark where they were changed; empty outside of git. */
    public static Optional<String> gitRevision() {
        return Shell.answer("git", "rev-parse", "--short=12", "HEAD").map(revision -> {
            boolean isChanged = Shell.answer("git", "status", "--porcelain", "--untracked-files=no")
                    .isPresent();
            return isChanged ? revision + "+changes" : revision;
        });
    }

    /** One line for each card: name, memory, driver; empty where there is no driver of NVIDIA's. */
    public static List<String> gpus() {
        return Shell.answer("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
                .map(text -> text.lines().map(String::strip).toList())
                .orElse(List.of());
    }

    private static String cpu() {
        return lines("/proc/cpuinfo").stream()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse("unknown");
    }

    private static long memory() {
        return lines("/proc/meminfo").stream()
                .filter(line -> line.startsWith("MemTotal:"))
                .map(line -> Long.parseLong(
                                line.replace("MemTotal:", "").replace("kB", "").strip())
                        * 1024)
                .findFirst()
                .orElse(0L);
    }

    private static List<String> lines(String file) {
        try {
            return Files.readAllLines(Path.of(file));
        } catch (IOException _) {
            return List.of(); // another system
        }
    }
}
