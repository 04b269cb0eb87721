package roselle.cli.serve;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.report.ExitCode;

/** {@code roselle load}: a server loads a model now, and waits until it is. */
@Command(name = "load", sortOptions = false)
public final class LoadCommand implements Callable<Integer> {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "NAME", description = "The model, as the server calls it.")
    private String model = "";

    @Mixin
    private RunningServer server = new RunningServer();

    @Override
    public Integer call() throws IOException {
        server.move(model, "/models/load", specification.commandLine().getOut());
        return ExitCode.OK.status();
    }
}
