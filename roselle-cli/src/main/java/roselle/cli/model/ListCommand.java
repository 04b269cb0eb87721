package roselle.cli.model;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import roselle.cli.option.HubSettings;
import roselle.cli.report.ByteCount;
import roselle.hub.BundledModel;
import roselle.hub.CachedModels;
import roselle.hub.CachedRevision;
import roselle.hub.request.HubName;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code roselle list}: the models in the cache, and behind them those that come with Roselle. */
@Command(name = "list")
public final class ListCommand implements Runnable {
    private static final String ROW = "%-48s %-14s %10s  %-20s %s";

    private static final String GGUF = "gguf"; // of all that come with Roselle

    private final Map<String, String> environment;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Option(names = "--json", description = "Print one JSON array.")
    private boolean isJson;

    public ListCommand() {
        this(System.getenv());
    }

    public ListCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public void run() {
        PrintWriter out = specification.commandLine().getOut();
        List<CachedRevision> revisions = new CachedModels(new HubSettings(environment).cache()).all();
        if (isJson) {
            out.println(json(revisions));
        } else {
            out.println(String.format(Locale.ROOT, ROW, "NAME", "REVISION", "SIZE", "MODIFIED", "FORMAT"));
            revisions.forEach(each -> out.println(row(each)));
            for (BundledModel each : BundledModel.values()) {
                out.println(row(each.title(), "in the jar", each.bytes(), "-", GGUF));
            }
        }
        out.flush();
    }

    private static String row(CachedRevision each) {
        String revision =
                each.revisions().isEmpty() ? each.commit().substring(0, 12) : String.join(",", each.revisions());
        String modified = each.modified().toString();
        return row(
                each.repository(),
                revision,
                each.bytes(),
                modified.substring(0, Math.min(19, modified.length())),
                each.format());
    }

    private static String row(String name, String revision, long bytes, String modified, String format) {
        return String.format(Locale.ROOT, ROW, name, revision, ByteCount.of(bytes), modified, format);
    }

    private static String json(List<CachedRevision> revisions) {
        ArrayNode rows = JsonNodeFactory.instance.arrayNode();
        for (CachedRevision each : revisions) {
            var row = rows.addObject()
                    .put("name", HubName.PREFIX + each.repository())
                    .put("repository", each.repository())
                    .put("commit", each.commit())
                    .put("bytes", each.bytes())
                    .put("modified", each.modified().toString())
                    .put("format", each.format())
                    .put("path", each.snapshot().toString());
            var names = row.putArray("revisions");
            each.revisions().forEach(names::add);
            var files = row.putArray("files");
            each.files()
                    .forEach(file -> files.addObject().put("path", file.path()).put("bytes", file.size()));
        }
        for (BundledModel each : BundledModel.values()) {
            rows.addObject()
                    .put("name", each.title())
                    .put("bytes", each.bytes())
                    .put("format", GGUF)
                    .put("bundled", true);
        }
        return JsonMapper.shared().writeValueAsString(rows);
    }
}
