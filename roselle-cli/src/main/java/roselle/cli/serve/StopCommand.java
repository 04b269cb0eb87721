package roselle.cli.serve;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.report.ExitCode;

/** {@code roselle stop}: a server has a model go when nobody uses it any more. */
@Command(name = "stop", sortOptions = false)
public final class StopCommand implements Callable<Integer> {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "NAME", description = "The model, as the server calls it.")
    private String model = "";

    @Mixin
    private RunningServer server = new RunningServer();

    @Override
    public Integer call() throws IOException {
        server.move(model, "/models/unload", specification.commandLine().getOut());
        return ExitCode.OK.status();
    }
}
