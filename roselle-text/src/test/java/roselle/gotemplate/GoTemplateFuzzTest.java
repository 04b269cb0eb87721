package roselle.gotemplate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

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
        var random = new Random(SEED);
        for (int input = 0; input < INPUTS; input++) {
            String template = mutated(random);
            try {
                GoTemplateFuzzTarget.fuzzerTestOneInput(template.getBytes(StandardCharsets.UTF_8));
            } catch (RuntimeException | StackOverflowError escaped) {
                throw new AssertionError("seed " + SEED + ", input " + input + ": " + template, escaped);
            }
        }
    }

    /** A good template with pieces of the others put in, left out or in the place of its own. */
    private static String mutated(Random random) {
        var template = new StringBuilder(GOOD.get(random.nextInt(GOOD.size())));
        int changes = 1 + random.nextInt(3);
        for (int change = 0; change < changes; change++) {
            int at = random.nextInt(template.length());
            String other = GOOD.get(random.nextInt(GOOD.size()));
            int from = random.nextInt(other.length());
            String piece = other.substring(from, Math.min(other.length(), from + 1 + random.nextInt(12)));
            switch (random.nextInt(3)) {
                case 0 -> template.insert(at, piece);
                case 1 -> template.delete(at, Math.min(template.length() - 1, at + 1 + random.nextInt(8)));
                default -> template.replace(at, Math.min(template.length(), at + piece.length()), piece);
            }
        }
        return template.toString();
    }
}
