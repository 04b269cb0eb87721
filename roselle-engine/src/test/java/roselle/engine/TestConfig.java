package roselle.engine;

import java.nio.file.Path;

/** Engines as this run of the tests wants them: with {@code -Droselle.overlap=on}, each launches steps ahead. */
public final class TestConfig {
    private TestConfig() {}

    /** A model with defaults for everything else. */
    public static EngineConfig of(Path model) {
        return EngineConfig.of(model).with(Overlap.of(System.getProperty("roselle.overlap", "auto")));
    }
}
