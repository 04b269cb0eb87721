package roselle.cli.bench;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code roselle bench}: the parent of the measurements. */
@Command(
        name = "bench",
        subcommands = {
            BenchModelCommand.class,
            BenchOnlineCommand.class,
            BenchOfflineCommand.class,
            BenchCompareCommand.class,
            BenchCapacityCommand.class,
            BenchPlotCommand.class,
            BenchStubCommand.class,
            BenchCheckCommand.class
        })
public final class BenchCommand implements Runnable {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(
                specification.commandLine(),
                "a measurement is missing: "
                        + String.join(
                                ", ",
                                specification.commandLine().getSubcommands().keySet()));
    }
}
