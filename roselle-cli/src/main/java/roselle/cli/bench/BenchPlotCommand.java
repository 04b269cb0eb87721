package roselle.cli.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.api.InvalidRequestException;
import roselle.bench.report.ResultFiles;
import roselle.cli.report.ExitCode;
import roselle.cli.report.NearNames;
import tools.jackson.databind.JsonNode;

/** {@code roselle bench plot}: pictures from saved results, several runs side by side. */
@Command(
        name = "plot",
        description = "Draw saved results, several files side by side, as a page, SVG and PNG.",
        mixinStandardHelpOptions = true)
final class BenchPlotCommand implements Callable<Integer> {
    private static final List<String> NAMES =
            List.of("online_results.json", "offline_results.json", "capacity_results.json");

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(arity = "1..*", paramLabel = "FILES", description = "Results as JSON, or folders with them.")
    private List<Path> files = List.of();

    @Option(
            names = "--output-dir",
            paramLabel = "DIR",
            defaultValue = "bench-plots",
            description = "Where pictures are written; default: ${DEFAULT-VALUE}.")
    private Path output = Path.of("");

    @Override
    public Integer call() {
        Map<String, JsonNode> documents = new LinkedHashMap<>();
        for (Path file : files) {
            add(documents, NearNames.existing(file));
        }
        draw(new ResultFiles(output), documents, specification);
        return ExitCode.OK.status();
    }

    private static void add(Map<String, JsonNode> documents, Path file) {
        if (!Files.isDirectory(file)) {
            documents.put(uniqueName(documents, file), ResultFiles.read(file));
            return;
        }
        List<Path> found =
                NAMES.stream().map(file::resolve).filter(Files::exists).toList();
        if (found.isEmpty()) {
            throw new InvalidRequestException(file + " has no results: none of " + String.join(", ", NAMES));
        }
        found.forEach(each -> documents.put(uniqueName(documents, each), ResultFiles.read(each)));
    }

    /** The folder's name tells results apart, and the whole path where that is not enough. */
    private static String uniqueName(Map<String, JsonNode> documents, Path file) {
        Path whole = file.toAbsolutePath().normalize();
        String name = String.valueOf(whole.subpath(Math.max(0, whole.getNameCount() - 2), whole.getNameCount()));
        return documents.containsKey(name) ? whole.toString() : name;
    }

    /** Draws and tells where. */
    static void draw(ResultFiles files, Map<String, JsonNode> documents, CommandSpec specification) {
        var out = specification.commandLine().getOut();
        files.draw(documents).ifPresent(out::println);
        out.println("report: " + files.folder().resolve("report.html"));
        out.flush();
    }
}
