package roselle.gotemplate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import roselle.jinja.TemplateMutations;

/** As many seeded mutations of good templates as take about a second; a failure prints the seed and the template. */
final class GoTemplateFuzzTest {
    private static final long SEED = 20261129;
    private static final int INPUTS = 10_000;
    private static final List<String> GOOD = good();

    private static List<String> good() {
        try (Stream<Path> files = Files.list(Path.of("../tools/gotemplates/templates"))) {
            return files.sorted().map(GoTemplateFuzzTest::read).toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    @Test
    void mutatedTemplatesAreRefusedOrRender() {
        new TemplateMutations(GOOD, SEED).feed(INPUTS, GoTemplateFuzzTarget::fuzzerTestOneInput);
    }
}
