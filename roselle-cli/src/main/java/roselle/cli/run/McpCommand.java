package roselle.cli.run;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.option.EngineFlags;
import roselle.cli.option.ModelNames;
import roselle.cli.report.ExitCode;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.mcp.McpModelServer;

/** {@code roselle mcp}: a model as an MCP server on standard input and output. */
@Command(name = "mcp", sortOptions = false)
public final class McpCommand implements Runnable {
    private static final int CALLS_AT_A_TIME = 8;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "A .gguf, a folder, hf:org/name[:quantization], or demo, which comes with Roselle.")
    private Path model = Path.of("");

    @Mixin
    private EngineFlags engineFlags = new EngineFlags();

    @Override
    public void run() {
        EngineConfig config =
                ExitCode.checkingOptions(specification.commandLine(), () -> engineFlags.config(model, CALLS_AT_A_TIME));
        try (Engine engine = Engine.open(config)) {
            // The protocol's own: what is printed goes through another stream, and would be taken for a message.
            McpModelServer.serve(engine, ModelNames.title(model), System.in, new FileOutputStream(FileDescriptor.out));
        }
    }
}
