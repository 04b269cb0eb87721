package roselle.cli.model;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.option.HubSettings;
import roselle.cli.report.ByteCount;
import roselle.cli.report.ExitCode;
import roselle.hub.CachedModels;
import roselle.hub.request.HubName;

/** {@code roselle rm}: models out of the cache. */
@Command(name = "rm")
public final class RemoveCommand implements Callable<Integer> {
    private final Map<String, String> environment;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(
            arity = "1..*",
            paramLabel = "NAME",
            description = "hf:org/name[@revision][:file or quantization] as in roselle list.")
    private List<String> names = List.of();

    public RemoveCommand() {
        this(System.getenv());
    }

    public RemoveCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() {
        List<HubName> models = ExitCode.checkingOptions(
                specification.commandLine(),
                () -> names.stream().map(HubName::parse).toList());
        var cached = new CachedModels(new HubSettings(environment).cache());
        models.forEach(cached::find); // nothing is removed when one of them is not there
        PrintWriter out = specification.commandLine().getOut();
        for (HubName model : models) {
            out.println("removed " + model + ": " + ByteCount.of(cached.remove(model)) + " free");
        }
        out.flush();
        return ExitCode.OK.status();
    }
}
