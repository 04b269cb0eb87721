package roselle.quarkus.deployment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import roselle.hub.BundledModel;

/** The demo model's file, which the applications of these tests are configured with. */
final class DemoModel {
    private DemoModel() {}

    static Path file() {
        try {
            return BundledModel.DEMO.unpackInto(Path.of("target", "models").toAbsolutePath());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
