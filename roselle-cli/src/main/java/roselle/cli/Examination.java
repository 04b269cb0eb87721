package roselle.cli;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.api.DeviceException;
import roselle.backend.DeviceOptions;
import roselle.cli.option.HubSettings;
import roselle.cli.option.ModelNames;
import roselle.cli.report.ByteCount;
import roselle.cli.report.VersionCommand;
import roselle.engine.Devices;
import roselle.hub.CachedModels;

/** Looks at what Roselle needs and uses: Java, the processor, GPUs, memory, caches, a port. No network is asked. */
final class Examination {
    private static final long LITTLE_DISK = 2_000_000_000;
    private static final long LITTLE_MEMORY = 2_000_000_000;
    private static final String CPU = "cpu";

    private final Map<String, String> environment;
    private final int port;

    Examination(Map<String, String> environment, int port) {
        this.environment = environment;
        this.port = port;
    }

    List<Finding> findings() {
        var findings = new ArrayList<Finding>();
        findings.add(Finding.fine("roselle", VersionCommand.line()));
        findings.add(java());
        findings.add(processor());
        Devices.complaints().forEach((kind, complaint) -> {
            if (!kind.equals(CPU)) {
                findings.add(device(kind, complaint));
            }
        });
        findings.add(memory());
        findings.add(cache());
        findings.add(hub());
        findings.add(port());
        return findings;
    }

    private static Finding java() {
        String fact = Runtime.version() + " of " + System.getProperty("java.vendor") + " at "
                + System.getProperty("java.home");
        return Finding.fine("java", fact);
    }

    /** The path that products take, and why: without native access, for one, it is not the best. */
    private static Finding processor() {
        int cores = Runtime.getRuntime().availableProcessors();
        try {
            String path = Devices.describe(new DeviceOptions(CPU, 0), List.of());
            return Finding.fine(CPU, cores + " cores; " + path);
        } catch (DeviceException failure) {
            return Finding.problem(CPU, cores + " cores, and none can be used", String.valueOf(failure.getMessage()));
        }
    }

    private static Finding device(String kind, Optional<String> complaint) {
        return complaint
                .map(why -> Finding.note(kind, "not used", why))
                .orElseGet(() -> Finding.fine(kind, "can be used: --device " + kind));
    }

    private static Finding memory() {
        if (!(ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean machine)) {
            return Finding.note("memory", "unknown", "this Java does not tell");
        }
        String fact =
                ByteCount.of(machine.getTotalMemorySize()) + ", of which " + ByteCount.of(machine.getFreeMemorySize())
                        + " are free; Java's heap takes up to "
                        + ByteCount.of(Runtime.getRuntime().maxMemory());
        return machine.getTotalMemorySize() < LITTLE_MEMORY
                ? Finding.note("memory", fact, "models beyond some 500 million parameters will not fit")
                : Finding.fine("memory", fact);
    }

    /** Where the launcher keeps a JDK and what makes starts fast, and where models are unpacked. */
    private Finding cache() {
        return ModelNames.cacheFolder(environment)
                .map(folder -> folder("cache", folder, "set ROSELLE_CACHE to a folder that can be written"))
                .orElseGet(() -> Finding.note("cache", "there is no home folder", "set ROSELLE_CACHE to a folder"));
    }

    private Finding hub() {
        Path folder = new HubSettings(environment).cache();
        Finding found = folder("hub", folder, "set HF_HOME to a folder that can be written");
        int models = new CachedModels(folder).all().size();
        return new Finding(found.name(), found.level(), found.fact() + "; " + models + " models", found.advice());
    }

    private static Finding folder(String name, Path folder, String advice) {
        Path existing = folder.toAbsolutePath();
        while (existing.getParent() != null && !Files.exists(existing)) {
            existing = existing.getParent();
        }
        if (!Files.isDirectory(existing) || !Files.isWritable(existing)) {
            return Finding.note(name, folder + " cannot be written", advice);
        }
        try {
            long free = Files.getFileStore(existing).getUsableSpace();
            String fact = folder + ", " + ByteCount.of(free) + " free";
            return free < LITTLE_DISK
                    ? Finding.note(name, fact, "there is hardly room for a model")
                    : Finding.fine(name, fact);
        } catch (IOException unreadable) {
            return Finding.note(name, folder + ": " + unreadable.getMessage(), advice);
        }
    }

    private Finding port() {
        try (var socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return Finding.fine("port", port + " is free on this machine");
        } catch (IOException taken) {
            return Finding.note(
                    "port", port + " is taken: " + taken.getMessage(), "roselle serve --port N takes another one");
        }
    }
}
