package roselle.bench.report;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** Results as tables of Markdown, in the form of the articles: latencies at p50/p90/p99 per scale, then throughput. */
public final class Markdown {
    private static final List<String> METRICS = List.of("ttft_ms", "tpot_ms", "itl_ms", "e2e_ms");

    private static final double MAX_OTHER_CORES = 0.1;
    private static final int MAX_EXAMPLES = 10;

    private final StringBuilder text = new StringBuilder();

    private Markdown() {}

    /** A results document of any kind as tables. */
    public static String of(JsonNode document) {
        var markdown = new Markdown();
        String schema = document.path("schema").asString("");
        switch (schema) {
            case OnlineResults.SCHEMA -> markdown.online(document);
            case OfflineResults.SCHEMA -> markdown.offline(document);
            case CapacityResults.SCHEMA -> markdown.capacity(document);
            default -> {} // no tables for it
        }
        return markdown.text.toString();
    }

    private void online(JsonNode document) {
        JsonNode workload = document.path("workload");
        line("## Online: " + workload.path("trace").asString("") + ", "
                + workload.path("requests").asInt() + " requests");
        line("Prompts: " + workload.path("prompt_mode").asString("") + " ("
                + workload.path("prompt_mode_meaning").asString("")
                + "). Latency counts from the intended start; a smaller scale is heavier.");
        line("");
        origin(document);
        line("| scale | backend | TTFT p50/p90/p99 ms | TPOT p50/p90/p99 ms | ITL p50/p90/p99 ms | E2E p50/p90/p99 ms |"
                + " samples of each |");
        line("|---|---|---|---|---|---|---|");
        for (JsonNode run : byScale(document)) {
            var cells = new ArrayList<String>();
            cells.add(scale(document, run));
            cells.add(run.path("backend").asString(""));
            METRICS.forEach(metric -> cells.add(percentiles(run.path(metric))));
            cells.add(METRICS.stream()
                    .map(metric -> run.path(metric).path("count").asString("0"))
                    .collect(Collectors.joining(" / ")));
            line(row(cells));
        }
        line("");
        throughput(document);
        differences(document);
        notes(document);
    }

    private void origin(JsonNode document) {
        String measured = Origin.measured(document);
        if (!measured.isEmpty()) {
            line(measured);
            line("");
        }
        Origin.engines(document).forEach(this::line);
    }

    /** Runs with the same scale one below the other, so that engines are compared where they met the same load. */
    private static List<JsonNode> byScale(JsonNode document) {
        return document.path("runs")
                .valueStream()
                .sorted(Comparator.comparingDouble(run -> run.path("scale").asDouble()))
                .toList();
    }

    private static String scale(JsonNode document, JsonNode run) {
        String scale = plain(run.path("scale").asDouble());
        boolean isRepeated = document.path("runs")
                .valueStream()
                .anyMatch(other -> other.path("repeat").asInt() > 0);
        return isRepeated ? scale + ", repeat " + (run.path("repeat").asInt() + 1) : scale;
    }

    private void offline(JsonNode document) {
        JsonNode workload = document.path("workload");
        line("## Offline: " + workload.path("prompts").asInt() + " prompts of "
                + workload.path("input_tokens").asInt() + " tokens, answers of "
                + workload.path("output_tokens").asInt() + ", all at once, "
                + workload.path("repeats").asInt() + " times after one to warm up");
        origin(document);
        line("| backend | path | best requests/s | best output tokens/s | best all tokens/s | mean ± deviation output"
                + " tokens/s | cores: engine, generator, others | ready after s | version |");
        line("|---|---|---|---|---|---|---|---|---|");
        for (JsonNode run : document.path("runs")) {
            line(row(List.of(
                    run.path("backend").asString(""),
                    run.path("path").asString(""),
                    number(run.path("best_requests_per_second").asDouble()),
                    number(run.path("best_output_tokens_per_second").asDouble()),
                    number(run.path("best_total_tokens_per_second").asDouble()),
                    number(run.path("mean_output_tokens_per_second").asDouble()) + " ± "
                            + number(run.path("deviation_output_tokens_per_second")
                                    .asDouble()),
                    cores(run.path("processors")),
                    number(run.path("ready_seconds").asDouble()),
                    run.path("version").asString(""))));
        }
        line("");
        for (JsonNode failure : document.path("failures")) {
            line("- " + failure.path("backend").asString("") + " has no figures: "
                    + failure.path("failure").asString(""));
        }
        for (JsonNode run : document.path("runs")) {
            for (JsonNode energy : run.path("energy")) {
                line("- " + run.path("backend").asString("") + " ("
                        + run.path("path").asString("") + "): "
                        + energy.path("joules_per_output_token").asDouble() + " J per output token by "
                        + energy.path("source").asString("") + ", idle draw included");
            }
            if (run.path("processors").path("other_cores").asDouble() > MAX_OTHER_CORES) {
                line("- " + run.path("backend").asString("") + " ("
                        + run.path("path").asString("") + "): " + others(run));
            }
            if (!run.path("note").asString("").isEmpty()) {
                line("- " + run.path("backend").asString("") + " ("
                        + run.path("path").asString("") + "): "
                        + run.path("note").asString(""));
            }
        }
    }

    private void capacity(JsonNode document) {
        JsonNode objective = document.path("workload").path("objective");
        line("## Capacity: p99 TTFT at most " + plain(objective.path("ttft_ms").asDouble())
                + " ms, p99 between tokens at"
                + " most " + plain(objective.path("tbt_ms").asDouble()) + " ms, failures at most "
                + plain(objective.path("failure_share").asDouble()));
        origin(document);
        line(
                "| backend | requests/s | 95 % ± | GPUs | requests/s per GPU | highest goodput/s | searches | they ended by |");
        line("|---|---|---|---|---|---|---|---|");
        for (JsonNode capacity : document.path("capacities")) {
            String sign = capacity.path("is_at_least").asBoolean(false) ? "at least " : "";
            JsonNode width = capacity.path("half_width");
            line(row(List.of(
                    capacity.path("backend").asString(""),
                    sign + number(capacity.path("requests_per_second").asDouble()),
                    width.isNumber() ? number(width.asDouble()) : width.asString(""),
                    capacity.path("gpus").asString("–"),
                    perGpu(capacity.path("requests_per_second_per_gpu")),
                    number(capacity.path("goodput_per_second").asDouble()),
                    Integer.toString(capacity.path("searches").size()),
                    capacity.path("endings")
                            .valueStream()
                            .map(ending -> ending.asString(""))
                            .distinct()
                            .collect(Collectors.joining("; ")))));
        }
        line("");
        line(
                "| backend | search | rate | kept | requests | TTFT p99 ms | between tokens p99 ms | failed | goodput/s | output"
                        + " tokens/s | scheduling error p99 ms |");
        line("|---|---|---|---|---|---|---|---|---|---|---|");
        for (JsonNode probe : document.path("probes")) {
            line(row(List.of(
                    probe.path("backend").asString(""),
                    probe.path("search").asString(""),
                    number(probe.path("rate").asDouble()),
                    probe.path("is_kept").asBoolean(false) ? "yes" : "no",
                    probe.path("requests").asString(""),
                    p99(probe.path("ttft_ms")),
                    p99(probe.path("itl_ms")),
                    probe.path("failed").asString(""),
                    number(probe.path("goodput_per_second").asDouble()),
                    number(probe.path("output_tokens_per_second").asDouble()),
                    number(probe.path("scheduling_error_ms").path("p99").asDouble()))));
        }
        line("");
        notes(document);
        document.path("probes")
                .valueStream()
                .flatMap(probe -> probe.path("failure_examples")
                        .valueStream()
                        .map(example -> "- " + probe.path("backend").asString("") + ", a request failed: "
                                + example.asString("")))
                .distinct()
                .limit(MAX_EXAMPLES)
                .forEach(this::line);
    }

    private static String p99(JsonNode metric) {
        return metric.path("count").asInt() == 0
                ? "–"
                : number(metric.path("p99").asDouble());
    }

    private static String perGpu(JsonNode rate) {
        return rate.isNumber() ? number(rate.asDouble()) : "–";
    }

    private void throughput(JsonNode document) {
        boolean hasEnergy =
                document.path("runs").valueStream().anyMatch(run -> !joules(run).isEmpty());
        line("| scale | backend | requests/s | output tokens/s | all tokens/s | goodput/s | failed | tokens (chunks) |"
                + " scheduling error p99 ms | cores: engine, generator, others |"
                + (hasEnergy ? " J/output token |" : ""));
        line("|---|---|---|---|---|---|---|---|---|---|" + (hasEnergy ? "---|" : ""));
        for (JsonNode run : byScale(document)) {
            var cells = new ArrayList<String>(List.of(
                    scale(document, run),
                    run.path("backend").asString(""),
                    number(run.path("requests_per_second").asDouble()),
                    number(run.path("output_tokens_per_second").asDouble()),
                    number(run.path("total_tokens_per_second").asDouble()),
                    number(run.path("goodput_per_second").asDouble()),
                    run.path("failed").asString(""),
                    run.path("output_tokens").asString("") + " ("
                            + run.path("chunks").asString("") + ")",
                    number(run.path("scheduling_error_ms").path("p99").asDouble()),
                    cores(run.path("processors"))));
            if (hasEnergy) {
                cells.add(joules(run));
            }
            line(row(cells));
        }
        line("");
    }

    private static String cores(JsonNode processors) {
        return Stream.of("engine_cores", "generator_cores", "other_cores")
                .map(processors::path)
                .map(cores -> cores.isNumber() ? number(cores.asDouble()) : "–")
                .collect(Collectors.joining(", "));
    }

    /** By the first meter that told, which is the cards' where there are any. */
    private static String joules(JsonNode run) {
        return run.path("energy")
                .valueStream()
                .map(energy -> energy.path("joules_per_output_token"))
                .filter(JsonNode::isNumber)
                .map(joules -> number(joules.asDouble()))
                .findFirst()
                .orElse("");
    }

    private void differences(JsonNode document) {
        if (document.path("differences").isEmpty()) {
            return;
        }
        line("Variants against the first, mean ± deviation of "
                + document.path("differences").path(0).path("repeats").asString("")
                + " repeats; noise: Welch's test at 95 %.");
        line("");
        line("| scale | metric | "
                + document.path("differences").path(0).path("base").asString("")
                + " | variant | its value | difference | exceeds noise |");
        line("|---|---|---|---|---|---|---|");
        for (JsonNode difference : document.path("differences")) {
            line(row(List.of(
                    plain(difference.path("scale").asDouble()),
                    difference.path("metric").asString(""),
                    repeats(difference, "base"),
                    difference.path("variant").asString(""),
                    repeats(difference, "variant"),
                    String.format(
                            Locale.ROOT,
                            "%+.1f %%",
                            100 * difference.path("difference_share").asDouble()),
                    difference.path("exceeds_noise").asBoolean(false) ? "yes" : "no")));
        }
        line("");
    }

    private static String repeats(JsonNode difference, String which) {
        return number(difference.path(which + "_mean").asDouble()) + " ± "
                + number(difference.path(which + "_deviation").asDouble());
    }

    private void notes(JsonNode document) {
        for (JsonNode backend : document.path("backends")) {
            String name = backend.path("name").asString("");
            if (backend.has("failure")) {
                line("- " + name + " has no or not all figures: "
                        + backend.path("failure").asString(""));
            }
            String note = backend.path("note").asString("");
            if (!note.isEmpty()) {
                line("- " + name + ": " + note);
            }
        }
        for (JsonNode run : document.path("runs")) {
            doubts(run)
                    .forEach(doubt -> line("- " + run.path("backend").asString("") + " at scale " + scale(document, run)
                            + ": " + doubt));
        }
    }

    /** What makes a run's figures less than they seem. */
    private static List<String> doubts(JsonNode run) {
        var doubts = new ArrayList<String>();
        run.path("failure_examples").forEach(example -> doubts.add("a request failed: " + example.asString("")));
        if (!run.path("ttft_ms").path("p99_is_supported").asBoolean(true)) {
            doubts.add(
                    "p99 over " + run.path("ttft_ms").path("count").asString("") + " requests is near their largest");
        }
        if (run.path("prompt_length_mismatches").asInt() > 0) {
            doubts.add(run.path("prompt_length_mismatches").asString("")
                    + " prompts had another number of tokens at the endpoint than were asked for");
        }
        if (run.path("output_length_mismatches").asInt() > 0) {
            doubts.add(run.path("output_length_mismatches").asString("")
                    + " answers had another length than was asked for");
        }
        if (run.path("chunks").asLong() < run.path("output_tokens").asLong()) {
            doubts.add("chunks carry more than one token: ITL is the gap between chunks");
        }
        if (run.path("scheduling_error_ms").path("p99").asDouble() > 2) {
            doubts.add("the generator was late by more than 2 ms at p99: this machine is too busy for the load");
        }
        if (run.path("processors").path("other_cores").asDouble() > MAX_OTHER_CORES) {
            doubts.add(others(run));
        }
        return doubts;
    }

    private static String others(JsonNode run) {
        return "other programs took "
                + number(run.path("processors").path("other_cores").asDouble()) + " cores of this machine meanwhile";
    }

    private static String percentiles(JsonNode metric) {
        if (metric.path("count").asInt() == 0) {
            return "–";
        }
        return number(metric.path("p50").asDouble()) + " / "
                + number(metric.path("p90").asDouble()) + " / "
                + number(metric.path("p99").asDouble());
    }

    /** A number as it was given. */
    static String plain(double value) {
        return value == 0 ? "0" : BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
    }

    /** Three digits or more, no exponent. */
    static String number(double value) {
        double size = Math.abs(value);
        int decimals = size >= 100 || value == Math.rint(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    /** A row of a table; a bar within a cell is written so that it separates nothing. */
    static String row(List<String> cells) {
        return cells.stream().map(cell -> cell.replace("|", "\\|")).collect(Collectors.joining(" | ", "| ", " |"));
    }

    private void line(String line) {
        text.append(line).append('\n');
    }
}
