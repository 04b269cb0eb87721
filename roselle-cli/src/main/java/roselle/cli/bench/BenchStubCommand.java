package roselle.cli.bench;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import roselle.bench.stub.Script;
import roselle.bench.stub.Stall;
import roselle.bench.stub.StubServer;
import roselle.cli.report.ExitCode;

/** {@code roselle bench stub}: an endpoint without a model, to measure the measurement with. */
@Command(
        name = "stub",
        description = "Answer on loopback without a model, with delays that are known.",
        mixinStandardHelpOptions = true)
final class BenchStubCommand implements Callable<Integer> {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Option(names = "--port", paramLabel = "N", description = "Default: any free one, which is printed.")
    private int port;

    @Option(names = "--first-ms", paramLabel = "X", defaultValue = "20", description = "Default: ${DEFAULT-VALUE}.")
    private double firstMillis;

    @Option(names = "--gap-ms", paramLabel = "X", defaultValue = "5", description = "Default: ${DEFAULT-VALUE}.")
    private double gapMillis;

    @Option(
            names = "--spread",
            paramLabel = "SHARE",
            defaultValue = "0",
            description = "Delays differ by up to this share, 0 to 1, evenly; default: ${DEFAULT-VALUE}.")
    private double spread;

    @Override
    public Integer call() throws InterruptedException {
        Script script = Script.spread(
                firstMillis * (1 - spread),
                firstMillis * (1 + spread),
                gapMillis * (1 - spread),
                gapMillis * (1 + spread));
        try (var stub = StubServer.start(port, script, Stall.NONE)) {
            specification.commandLine().getOut().println("answering at " + stub.uri());
            specification.commandLine().getOut().flush();
            new CountDownLatch(1).await(); // until the process is told to end
        }
        return ExitCode.OK.status();
    }
}
