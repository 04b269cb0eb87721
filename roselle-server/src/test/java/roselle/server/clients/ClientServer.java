package roselle.server.clients;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import roselle.server.Server;
import roselle.server.config.BatchFolder;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;

/** A server of a model on a free port, as clients see it. */
final class ClientServer implements AutoCloseable {
    private final Engine engine;
    private final Server server;

    /** Of the demo model. */
    ClientServer() {
        this("demo", EngineConfig.of(demo()));
    }

    ClientServer(String name, EngineConfig model) {
        engine = Engine.open(model);
        var listen = new ListenOptions("127.0.0.1", 0);
        var config = ServerConfig.DEFAULT.with(listen).with(BatchFolder.in(temporary()));
        server = Server.start(config, new ServedModel(name, engine));
    }

    private static Path temporary() {
        try {
            return Files.createTempDirectory(Files.createDirectories(Path.of("target")), "batches");
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    private static Path demo() {
        try {
            return BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    Engine engine() {
        return engine;
    }

    /** Such as {@code http://127.0.0.1:40123}. */
    String root() {
        return "http://127.0.0.1:" + server.port();
    }

    @Override
    public void close() {
        server.close();
        engine.close();
    }
}
