package roselle.cli.model;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.option.HubSettings;
import roselle.cli.option.ModelNames;
import roselle.cli.report.ByteCount;
import roselle.cli.report.ExitCode;
import roselle.hub.BundledModel;
import roselle.hub.CachedModels;
import roselle.hub.CachedRevision;
import roselle.hub.Hub;
import roselle.hub.ModelCard;
import roselle.hub.request.HubName;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code roselle show}: what the cache knows of a model: where it comes from, its licence, its files, and what they hold. */
@Command(name = "show")
public final class ShowCommand implements Callable<Integer> {
    private final Map<String, String> environment;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(
            paramLabel = "NAME",
            description = "hf:org/name[@revision][:file or quantization] as in roselle list, or demo.")
    private String name = "";

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean isJson;

    public ShowCommand() {
        this(System.getenv());
    }

    public ShowCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() {
        Optional<BundledModel> bundled = BundledModel.named(name);
        if (bundled.isPresent()) {
            showBundled(bundled.get());
            return ExitCode.OK.status();
        }
        HubName model = ExitCode.checkingOptions(specification.commandLine(), () -> HubName.parse(name));
        Path cache = new HubSettings(environment).cache();
        CachedRevision revision = new CachedModels(cache).find(model);
        ModelCard card = ModelCard.of(revision.snapshot());
        PrintWriter out = specification.commandLine().getOut();
        if (isJson) {
            out.println(json(revision, card));
        } else {
            print(out, revision, card);
            Hub.cached(cache, model).ifPresent(path -> InspectCommand.describe(path, out));
        }
        out.flush();
        return ExitCode.OK.status();
    }

    private void showBundled(BundledModel model) {
        Path path = ModelNames.resolve(Path.of(model.title()));
        PrintWriter out = specification.commandLine().getOut();
        if (isJson) {
            out.println(JsonMapper.shared()
                    .writeValueAsString(JsonNodeFactory.instance
                            .objectNode()
                            .put("name", model.title())
                            .put("bundled", true)
                            .put("format", "gguf")
                            .put("bytes", model.bytes())
                            .put("path", path.toString())));
        } else {
            line(out, "name", model.title() + ", which comes with Roselle");
            line(out, "file", path + "  " + ByteCount.of(model.bytes()));
            InspectCommand.describe(path, out);
        }
        out.flush();
    }

    private static void print(PrintWriter out, CachedRevision revision, ModelCard card) {
        line(out, "repository", revision.repository());
        line(out, "commit", revision.commit());
        if (!revision.revisions().isEmpty()) {
            line(out, "revision", String.join(", ", revision.revisions()));
        }
        card.facts().forEach((fact, value) -> line(out, label(fact), value));
        revision.files().forEach(file -> line(out, "file", file.path() + "  " + ByteCount.of(file.size())));
    }

    private static String label(String fact) {
        return fact.replace("license", "licence").replace('_', ' ');
    }

    private static void line(PrintWriter out, String name, String value) {
        out.println(String.format(Locale.ROOT, "%-14s %s", name, value));
    }

    private static String json(CachedRevision revision, ModelCard card) {
        ObjectNode root = JsonNodeFactory.instance
                .objectNode()
                .put("repository", revision.repository())
                .put("commit", revision.commit())
                .put("format", revision.format())
                .put("bytes", revision.bytes())
                .put("path", revision.snapshot().toString());
        var names = root.putArray("revisions");
        revision.revisions().forEach(names::add);
        ObjectNode facts = root.putObject("card");
        card.facts().forEach(facts::put);
        var files = root.putArray("files");
        revision.files()
                .forEach(file -> files.addObject().put("path", file.path()).put("bytes", file.size()));
        return JsonMapper.shared().writeValueAsString(root);
    }
}
