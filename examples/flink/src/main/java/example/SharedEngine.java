package example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;

/** The engine of a TaskManager, whose tasks have nothing but static fields in common: open while one of them uses it. */
final class SharedEngine {
    private static Engine engine;
    private static int users;

    private SharedEngine() {}

    static synchronized Engine take() throws IOException {
        if (users == 0) {
            Path model = BundledModel.DEMO.unpackInto(Files.createDirectories(Path.of("target", "models")));
            engine = Engine.open(EngineConfig.of(model));
        }
        users++;
        return engine;
    }

    static synchronized void giveBack() {
        if (--users == 0) {
            engine.close();
        }
    }
}
