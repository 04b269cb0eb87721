package roselle.cli.model;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.option.HubModels;
import roselle.cli.option.HubSettings;
import roselle.cli.report.ExitCode;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubName;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code roselle pull}: a model from the Hugging Face hub into the cache that it shares with Python. */
@Command(name = "pull", sortOptions = false)
public final class PullCommand implements Callable<Integer> {
    private final Map<String, String> environment;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(
            paramLabel = "NAME",
            description = "hf:org/name[@revision][:file or quantization]; hf: may be left out.")
    private String name = "";

    @Option(names = "--offline", description = "Fetch nothing: only say where it lies, or fail.")
    private boolean isOffline;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean isJson;

    public PullCommand() {
        this(System.getenv());
    }

    public PullCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() {
        HubName model = ExitCode.checkingOptions(specification.commandLine(), () -> HubName.parse(name));
        HubConfig config = ExitCode.checkingOptions(
                specification.commandLine(), () -> new HubSettings(environment).config(isOffline));
        Path path = config.isOffline() ? HubModels.cached(model, config) : HubModels.pull(model, config, System.err);
        PrintWriter out = specification.commandLine().getOut();
        out.println(isJson ? json(model, path) : path.toString());
        out.flush();
        return ExitCode.OK.status();
    }

    private static String json(HubName model, Path path) {
        return JsonMapper.shared()
                .writeValueAsString(JsonNodeFactory.instance
                        .objectNode()
                        .put("name", model.toString())
                        .put("repository", model.repository())
                        .put("revision", model.revision())
                        .put("path", path.toString()));
    }
}
