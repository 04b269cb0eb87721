package roselle.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** The test data that lies beside a checkout, in {@code ../shared/data}, or where ROSELLE_SHARED_DATA points. */
public final class SharedData {
    private SharedData() {}

    /** A file or folder of it; a test that asks for one that is absent is skipped, visibly. */
    public static Path path(String relative) {
        Optional<Path> found = folder().map(folder -> folder.resolve(relative)).filter(Files::exists);
        Assumptions.assumeTrue(found.isPresent(), "shared/data/" + relative + " is not there: set ROSELLE_SHARED_DATA");
        return found.orElseThrow();
    }

    /** The folder, where there is one. */
    public static Optional<Path> folder() {
        String named = System.getenv("ROSELLE_SHARED_DATA");
        Stream<Path> places = named == null
                ? Stream.of(Path.of("../../shared/data"), Path.of("../shared/data")) // from a module, from the root
                : Stream.of(Path.of(named));
        return places.filter(Files::isDirectory).findFirst();
    }
}
