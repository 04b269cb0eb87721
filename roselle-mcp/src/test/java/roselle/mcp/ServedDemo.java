package roselle.mcp;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;

/** The demo model as a server, in a process of its own. */
final class ServedDemo {
    private ServedDemo() {}

    static void main() throws IOException {
        try (Engine engine = Engine.open(EngineConfig.of(BundledModel.DEMO.unpackInto(Path.of("target", "models"))))) {
            McpModelServer.serve(engine, "demo", System.in, new FileOutputStream(FileDescriptor.out));
        }
    }
}
