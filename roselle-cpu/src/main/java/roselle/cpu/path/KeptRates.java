package roselle.cpu.path;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import roselle.backend.UserCache;

/**
 * Rates in a folder, a small file for each thing that was measured: what it is, a line for each path, and a checksum.
 *
 * <p>A file appears whole or not at all; one that is torn or of something else counts as absent. Where nothing can be
 * written, nothing is kept, and each start measures.
 */
final class KeptRates {
    private static final long MOST_BYTES = 4096;

    private static final KeptRates USERS = new KeptRates(UserCache.folder().resolve("cpu-paths"));

    private final Path folder;

    /** By key, what this process goes by: its devices have the same bits though nothing can be written. */
    private final Map<String, List<PathRates>> known = new ConcurrentHashMap<>();

    KeptRates(Path folder) {
        this.folder = folder;
    }

    /** Those in the user's cache. */
    static KeptRates ofUser() {
        return USERS;
    }

    /** What was kept of a thing, which its key names in one line; rates that are not of these paths are not believed. */
    Optional<List<PathRates>> of(String key, List<String> paths) {
        List<PathRates> remembered = known.get(key);
        return remembered != null ? Optional.of(remembered) : read(key).filter(rates -> paths.equals(paths(rates)));
    }

    private static List<String> paths(List<PathRates> rates) {
        return rates.stream().map(PathRates::path).toList();
    }

    private Optional<List<PathRates>> read(String key) {
        Path file = file(key);
        try {
            if (!Files.isRegularFile(file) || Files.size(file) > MOST_BYTES) {
                return Optional.empty();
            }
            return parse(key, new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
        } catch (IOException | SecurityException unreadable) {
            return Optional.empty();
        }
    }

    /**
     * Keeps rates, unless another process was first.
     *
     * @return those that hold from now on
     */
    List<PathRates> keep(String key, List<PathRates> measured) {
        return known.computeIfAbsent(key, _ -> write(key, measured));
    }

    private List<PathRates> write(String key, List<PathRates> measured) {
        Path part = null;
        try {
            Files.createDirectories(folder);
            part = Files.createTempFile(folder, "rates", ".part");
            Files.writeString(part, text(key, measured));
            Optional<List<PathRates>> others =
                    read(key).filter(rates -> paths(rates).equals(paths(measured)));
            if (others.isEmpty()) {
                move(part, file(key));
            }
            return others.orElse(measured);
        } catch (IOException | SecurityException notWritable) {
            return measured;
        } finally {
            delete(part);
        }
    }

    private static void move(Path part, Path file) throws IOException {
        try {
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException notHere) {
            Files.move(part, file, StandardCopyOption.REPLACE_EXISTING); // torn at worst, which its checksum tells
        }
    }

    private static void delete(@Nullable Path part) {
        if (part == null) {
            return;
        }
        try {
            Files.deleteIfExists(part);
        } catch (IOException | SecurityException stays) {
            part.toFile().deleteOnExit();
        }
    }

    private Path file(String key) {
        return folder.resolve(checksum(key) + ".txt");
    }

    private static String text(String key, List<PathRates> measured) {
        var text = new StringBuilder(key).append('\n');
        for (PathRates each : measured) {
            text.append(String.format(Locale.ROOT, "%s %.6e %.6e\n", each.path(), each.prompt(), each.decode()));
        }
        return text.append(checksum(text.toString())).append('\n').toString();
    }

    private static Optional<List<PathRates>> parse(String key, String text) {
        int end = text.lastIndexOf('\n', text.length() - 2) + 1;
        boolean isWhole = text.endsWith("\n") && text.substring(end).strip().equals(checksum(text.substring(0, end)));
        if (!isWhole || !text.startsWith(key + "\n")) {
            return Optional.empty();
        }
        try {
            var rates = new ArrayList<PathRates>();
            for (String line : text.substring(key.length() + 1, end).lines().toList()) {
                String[] words = line.split(" ", -1);
                rates.add(new PathRates(words[0], Double.parseDouble(words[1]), Double.parseDouble(words[2])));
            }
            return rates.isEmpty() ? Optional.empty() : Optional.of(rates);
        } catch (IllegalArgumentException | IndexOutOfBoundsException notRates) {
            return Optional.empty();
        }
    }

    private static String checksum(String text) {
        var sum = new CRC32();
        sum.update(text.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().toHexDigits((int) sum.getValue());
    }
}
