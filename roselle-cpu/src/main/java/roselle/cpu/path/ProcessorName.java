package roselle.cpu.path;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import roselle.cpu.machine.Processor;
import roselle.tensor.DataType;

/** What tells one processor, as this process may use it, from others: the kernel's words for it, and what it offers. */
record ProcessorName(String words) {
    private static final Path KERNELS = Path.of("/proc/cpuinfo");

    /** What the first processor's lines say; the rest differs from core to core, or from one moment to the next. */
    private static final Set<String> FIELDS = Set.of("vendor_id", "cpu family", "model", "model name", "stepping");

    ProcessorName(Processor processor) {
        this(String.join(" ", fields(KERNELS)) + " with " + processor);
    }

    /** Names what is measured of it, in one line: rates of other versions are not believed, whose code may be another. */
    String key(int threads, DataType format) {
        return "rates of version " + version() + " of " + format.label() + " on " + threads + " threads: " + words;
    }

    private static String version() {
        var descriptor = ProcessorName.class.getModule().getDescriptor();
        return descriptor == null ? "development" : descriptor.rawVersion().orElse("development");
    }

    static List<String> fields(Path information) {
        var fields = new ArrayList<String>();
        try (var lines = Files.lines(information, StandardCharsets.ISO_8859_1)) {
            for (String line : (Iterable<String>) lines.takeWhile(each -> !each.isBlank())::iterator) {
                int colon = line.indexOf(':');
                if (colon > 0 && FIELDS.contains(line.substring(0, colon).strip())) {
                    fields.add(line.substring(colon + 1).strip());
                }
            }
        } catch (IOException | SecurityException | java.io.UncheckedIOException notTold) {
            return List.of("unknown");
        }
        return fields;
    }
}
