package roselle.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import roselle.cli.report.ExitCode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code roselle doctor}: what this machine offers, what is missing, and what to do about it. */
@Command(name = "doctor", sortOptions = false)
final class DoctorCommand implements Callable<Integer> {
    private final Map<String, String> environment;

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Option(names = "--port", paramLabel = "N", description = "Whether a server could listen there; default: 8000.")
    private int port = 8000;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean isJson;

    DoctorCommand() {
        this(System.getenv());
    }

    DoctorCommand(Map<String, String> environment) {
        this.environment = environment;
    }

    @Override
    public Integer call() {
        List<Finding> findings = new Examination(environment, port).findings();
        boolean isSound = findings.stream().noneMatch(each -> each.level() == Finding.Level.PROBLEM);
        PrintWriter out = specification.commandLine().getOut();
        if (isJson) {
            out.println(json(findings, isSound));
        } else {
            findings.forEach(each -> print(out, each));
            out.println(isSound ? "Roselle can run here." : "Roselle cannot run here as things stand.");
        }
        out.flush();
        return (isSound ? ExitCode.OK : ExitCode.UNAVAILABLE).status();
    }

    private static void print(PrintWriter out, Finding finding) {
        String mark = switch (finding.level()) {
            case FINE -> "  ";
            case NOTE -> "! ";
            case PROBLEM -> "x ";
        };
        out.println(String.format(Locale.ROOT, "%s%-9s %s", mark, finding.name(), finding.fact()));
        if (!finding.advice().isEmpty()) {
            out.println(String.format(Locale.ROOT, "  %-9s %s", "", finding.advice()));
        }
    }

    private static String json(List<Finding> findings, boolean isSound) {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("sound", isSound);
        var list = root.putArray("findings");
        findings.forEach(each -> list.addObject()
                .put("name", each.name())
                .put("level", each.level().name().toLowerCase(Locale.ROOT))
                .put("fact", each.fact())
                .put("advice", each.advice()));
        return JsonMapper.shared().writeValueAsString(root);
    }
}
