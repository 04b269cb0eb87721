package roselle.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Where the figures of a results document come from, as lines of Markdown: the machine and the moment, and the engines. */
final class Origin {
    private static final int LONGEST_WORD = 60;
    private static final double GIB = 1L << 30;
    private static final int SECOND = 19; // characters of an ISO moment until its seconds

    private Origin() {}

    /** One sentence; empty where the document does not tell. */
    static String measured(JsonNode document) {
        JsonNode meta = document.path("meta");
        if (meta.isMissingNode()) {
            return "";
        }
        JsonNode machine = meta.path("machine");
        String started = meta.path("started").asString("");
        String gpus = machine.path("gpus")
                .valueStream()
                .map(gpu -> "; " + gpu.asString(""))
                .collect(Collectors.joining());
        return String.format(
                Locale.ROOT,
                "Measured at %s UTC in %.0f s by %s, revision %s, on %d cores of %s, %.0f GiB%s; load average %.1f at the"
                        + " start.",
                started.substring(0, Math.min(SECOND, started.length())).replace('T', ' '),
                meta.path("wall_seconds").asDouble(),
                meta.path("roselle").asString(""),
                meta.path("git_revision").asString(""),
                machine.path("cores").asInt(),
                machine.path("cpu").asString(""),
                machine.path("memory_bytes").asDouble() / GIB,
                gpus,
                machine.path("load_average").asDouble());
    }

    /** A table of the engines; empty where the document names none. */
    static List<String> engines(JsonNode document) {
        var lines = new ArrayList<String>();
        for (JsonNode engine : document.path("backends")) {
            boolean wasStarted = engine.path("command").size() > 0;
            lines.add(Markdown.row(List.of(
                    engine.path("name").asString(""),
                    engine.path("version").asString(""),
                    engine.path("prompt_format").asString(""),
                    wasStarted ? Markdown.number(engine.path("ready_seconds").asDouble()) : without(engine),
                    wasStarted ? command(engine) : engine.path("url").asString(""))));
        }
        if (!lines.isEmpty()) {
            lines.addAll(
                    0,
                    List.of("| backend | version | prompts | ready after s | started as |", "|---|---|---|---|---|"));
            lines.add("");
        }
        return lines;
    }

    private static String without(JsonNode engine) {
        return engine.has("failure") ? "failed" : "ran already";
    }

    /** The results have it whole; here a class path, say, would hide all the rest. */
    private static String command(JsonNode engine) {
        return engine.path("command")
                .valueStream()
                .map(word -> word.asString(""))
                .map(word -> word.length() <= LONGEST_WORD ? word : word.substring(0, LONGEST_WORD) + "…")
                .collect(Collectors.joining(" "));
    }
}
