package roselle.server.clients;

import java.nio.file.Path;
import java.util.function.UnaryOperator;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.engine.HookedEngine;
import roselle.server.Server;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;

/** A server whose model answers what a script says, on a free port. */
final class ScriptedServer implements AutoCloseable {
    private final Engine engine;
    private final Server server;

    /** Serves a model that is written into an empty folder. */
    ScriptedServer(Path folder, UnaryOperator<String> script) {
        var config = EngineConfig.of(ScriptedModel.write(folder))
                .with(new BatchOptions(ScriptedModel.CONTEXT, 1, 4096, 0, 64))
                .with(new CacheOptions("f16", 0, 16, true));
        engine = HookedEngine.openScripted(config, script);
        server = Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)), new ServedModel("scripted", engine));
    }

    String root() {
        return "http://127.0.0.1:" + server.port();
    }

    @Override
    public void close() {
        server.close();
        engine.close();
    }
}
