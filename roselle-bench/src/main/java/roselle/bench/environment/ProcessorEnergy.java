package roselle.bench.environment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The energy of processor packages, from the counters that Linux shows to those who may read them. */
final class ProcessorEnergy implements EnergyMeter {
    private static final Path COUNTERS = Path.of("/sys/class/powercap");

    private final List<Path> packages;

    private ProcessorEnergy(List<Path> packages) {
        this.packages = packages;
    }

    static Optional<EnergyMeter> find() {
        return find(COUNTERS);
    }

    /** The meter of a folder of counters, {@code intel-rapl:0} and so on; the parts of a package are left out. */
    static Optional<EnergyMeter> find(Path counters) {
        try (Stream<Path> folders = Files.list(counters)) {
            List<Path> packages = folders.filter(folder -> {
                        String name = String.valueOf(folder.getFileName());
                        return name.startsWith("intel-rapl:") && name.indexOf(':') == name.lastIndexOf(':');
                    })
                    .filter(folder -> Files.isReadable(folder.resolve("energy_uj")))
                    .toList();
            return packages.isEmpty() ? Optional.empty() : Optional.of(new ProcessorEnergy(packages));
        } catch (IOException _) {
            return Optional.empty(); // another system, or not permitted
        }
    }

    @Override
    public Span begin() {
        List<Long> before = read("energy_uj");
        return () -> {
            List<Long> after = read("energy_uj");
            List<Long> ranges = read("max_energy_range_uj");
            double micros = 0;
            for (int i = 0; i < packages.size(); i++) {
                long used = after.get(i) - before.get(i);
                micros += used < 0 ? used + ranges.get(i) : used; // the counter began anew
            }
            return new Energy("RAPL, all processor packages", micros / 1e6);
        };
    }

    private List<Long> read(String counter) {
        var values = new ArrayList<Long>();
        for (Path folder : packages) {
            try {
                values.add(
                        Long.parseLong(Files.readString(folder.resolve(counter)).strip()));
            } catch (IOException | NumberFormatException _) {
                values.add(0L);
            }
        }
        return values;
    }
}
