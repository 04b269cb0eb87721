package roselle.cli.serve;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import roselle.cli.report.ByteCount;
import roselle.cli.report.ExitCode;
import tools.jackson.databind.JsonNode;

/** {@code roselle ps}: the models of a server and where they stand. */
@Command(name = "ps", sortOptions = false)
public final class PsCommand implements Callable<Integer> {
    private static final String ROW = "%-40s %-10s %10s %6s  %s";

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Mixin
    private RunningServer server = new RunningServer();

    @Option(names = "--json", description = "Print what the server says.")
    private boolean isJson;

    @Override
    public Integer call() throws IOException {
        JsonNode told = server.get("/models");
        PrintWriter out = specification.commandLine().getOut();
        if (isJson) {
            out.println(told);
        } else {
            out.println(String.format(Locale.ROOT, ROW, "NAME", "STATE", "MEMORY", "USERS", "UNLOADED AFTER"));
            told.path("models").values().forEach(model -> out.println(row(model)));
            out.println(memory(told.path("memory")));
        }
        out.flush();
        return ExitCode.OK.status();
    }

    private static String memory(JsonNode memory) {
        String used = ByteCount.of(memory.path("used_bytes").asLong(0)) + " in use";
        long budget = memory.path("budget_bytes").asLong(0);
        String device = budget == 0 ? used : used + " of " + ByteCount.of(budget);
        long host = memory.path("host_budget_bytes").asLong(0);
        return host == 0
                ? device
                : device + "; parked in the machine's memory: "
                        + ByteCount.of(memory.path("host_used_bytes").asLong(0)) + " of " + ByteCount.of(host);
    }

    private static String row(JsonNode model) {
        String state = model.path("state").asString("");
        String shown =
                state.equals("loading") ? "loading " + model.path("percent").asInt(0) + "%" : state;
        long bytes = model.path(state.equals("parked") ? "host_bytes" : "bytes").asLong(0);
        return String.format(
                        Locale.ROOT,
                        ROW,
                        model.path("name").asString(""),
                        shown,
                        bytes == 0 ? "" : ByteCount.of(bytes),
                        model.path("users").asInt(0),
                        stay(model))
                .stripTrailing();
    }

    private static String stay(JsonNode model) {
        JsonNode failure = model.path("failure");
        if (failure.isString()) {
            return failure.stringValue();
        }
        if (model.path("pinned").asBoolean(false)) {
            return "stays";
        }
        JsonNode seconds = model.path("unloads_after_seconds");
        return seconds.isNumber() ? seconds.asLong() + " s" : "";
    }
}
