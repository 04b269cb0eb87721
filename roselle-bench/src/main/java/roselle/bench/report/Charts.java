package roselle.bench.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import roselle.bench.chart.Picture;
import roselle.bench.chart.Pictures;
import roselle.bench.chart.Pictures.Band;
import roselle.bench.chart.Pictures.BandPanel;
import roselle.bench.chart.Pictures.Bar;
import roselle.bench.chart.Pictures.Curve;
import roselle.bench.chart.Pictures.CurvePanel;
import roselle.bench.chart.Pictures.Life;
import roselle.bench.chart.Pictures.Spread;
import roselle.bench.chart.Pictures.Trade;
import tools.jackson.databind.JsonNode;

/** The pictures of results documents, several documents side by side. */
public final class Charts {
    private static final Map<String, String> METRICS = metrics();
    private static final int MAX_TIMELINES = 12;
    private static final int LABEL_DIGITS = 3;

    /**
     * A run with the name it has in pictures.
     *
     * @param label of its engine, with the file's name where there are several
     * @param gpus that its engine uses
     */
    private record Run(String label, JsonNode node, int gpus) {
        double scale() {
            return node.path("scale").asDouble();
        }

        boolean has(String metric) {
            return node.path(metric).path("count").asInt() > 0;
        }

        Spread spread(String metric) {
            JsonNode values = node.path(metric);
            return new Spread(
                    values.path("p50").asDouble(),
                    values.path("p90").asDouble(),
                    values.path("p99").asDouble());
        }
    }

    private final List<Run> online = new ArrayList<>();
    private final List<Run> offline = new ArrayList<>();
    private final List<Run> probes = new ArrayList<>();
    private final Map<String, Picture> pictures = new LinkedHashMap<>();

    private Charts() {}

    /** Names of files, without an ending, and their pictures; documents by a name that tells them apart. */
    public static Map<String, Picture> of(Map<String, JsonNode> documents) {
        var charts = new Charts();
        documents.forEach((name, document) -> {
            long ofItsKind = documents.values().stream()
                    .filter(other -> other.path("schema").equals(document.path("schema")))
                    .count();
            charts.add(ofItsKind > 1 ? name + ": " : "", document);
        });
        charts.draw();
        return charts.pictures;
    }

    private static Map<String, String> metrics() {
        var metrics = new LinkedHashMap<String, String>();
        metrics.put("ttft_ms", "TTFT: time to first token");
        metrics.put("tpot_ms", "TPOT: time per output token");
        metrics.put("itl_ms", "ITL: gaps between tokens");
        metrics.put("e2e_ms", "E2E: end to end");
        return metrics;
    }

    private void add(String prefix, JsonNode document) {
        boolean isOnline = document.path("schema").asString("").equals(OnlineResults.SCHEMA);
        boolean isOffline = document.path("schema").asString("").equals(OfflineResults.SCHEMA);
        for (JsonNode probe : document.path("probes")) {
            probes.add(new Run(prefix + probe.path("backend").asString(""), probe, gpus(document, probe)));
        }
        for (JsonNode run : document.path("runs")) {
            String label = prefix + run.path("backend").asString("");
            if (isOnline) {
                online.add(new Run(label, run, gpus(document, run)));
            } else if (isOffline) {
                offline.add(new Run(label + ", " + run.path("path").asString(""), run, gpus(document, run)));
            }
        }
    }

    /** Cards that the engine of a run uses; documents from before this was told name those of the machine only. */
    private static int gpus(JsonNode document, JsonNode run) {
        String name = run.path("backend").asString("");
        int ofTheMachine = document.path("meta").path("machine").path("gpus").size();
        return document.path("backends")
                .valueStream()
                .filter(backend -> backend.path("name").asString("").equals(name))
                .mapToInt(backend -> backend.path("gpus").asInt(ofTheMachine))
                .findFirst()
                .orElse(ofTheMachine);
    }

    private void draw() {
        if (!online.isEmpty()) {
            latencies();
            throughput();
            distributions();
            pareto("pareto", "Throughput against latency, a point for each scale", "scale", online);
            timelines();
        }
        if (!probes.isEmpty()) {
            pareto("capacity_pareto", "Throughput against latency, a point for each rate tried", "rate", probes);
        }
        if (!offline.isEmpty()) {
            List<Bar> bars = offline.stream()
                    .map(run -> new Bar(
                            "output tokens/s, best",
                            run.label(),
                            run.node().path("best_output_tokens_per_second").asDouble()))
                    .toList();
            pictures.put("offline_throughput", Pictures.bars("Offline throughput", "tokens/s", bars));
        }
    }

    private List<Double> scales() {
        return online.stream().map(Run::scale).distinct().sorted().toList();
    }

    private List<String> labels() {
        return online.stream().map(Run::label).distinct().toList();
    }

    private void latencies() {
        List<BandPanel> panels = METRICS.entrySet().stream()
                .map(metric -> new BandPanel(metric.getValue(), bands(metric.getKey())))
                .toList();
        List<String> places = scales().stream().map(Markdown::plain).toList();
        pictures.put(
                "latency",
                Pictures.bands(
                        "Latency: band p50 to p90, line p90, hollow p99",
                        "scale (smaller is heavier)",
                        places,
                        panels));
    }

    private List<Band> bands(String metric) {
        return labels().stream()
                .map(label -> band(label, metric))
                .filter(band -> !band.places().isEmpty())
                .toList();
    }

    private Band band(String label, String metric) {
        var places = new ArrayList<Integer>();
        var spreads = new ArrayList<Spread>();
        List<Double> scales = scales();
        for (int i = 0; i < scales.size(); i++) {
            double scale = scales.get(i);
            List<Spread> repeats = runs(label, scale)
                    .filter(run -> run.has(metric))
                    .map(run -> run.spread(metric))
                    .toList();
            if (!repeats.isEmpty()) {
                places.add(i);
                spreads.add(mean(repeats));
            }
        }
        return new Band(label, places, spreads);
    }

    private Stream<Run> runs(String label, double scale) {
        return online.stream().filter(run -> run.label().equals(label) && run.scale() == scale);
    }

    private static Spread mean(List<Spread> repeats) {
        return new Spread(
                repeats.stream().mapToDouble(Spread::p50).average().orElse(0),
                repeats.stream().mapToDouble(Spread::p90).average().orElse(0),
                repeats.stream().mapToDouble(Spread::p99).average().orElse(0));
    }

    private void throughput() {
        List<Bar> bars = scales().stream()
                .flatMap(scale -> labels().stream()
                        .filter(label -> runs(label, scale).findAny().isPresent())
                        .map(label -> new Bar(
                                "scale " + Markdown.plain(scale),
                                label,
                                runs(label, scale)
                                        .mapToDouble(run -> run.node()
                                                .path("output_tokens_per_second")
                                                .asDouble())
                                        .average()
                                        .orElse(0))))
                .toList();
        pictures.put("throughput", Pictures.bars("Output tokens per second", "tokens/s", bars));
    }

    private void distributions() {
        for (double scale : scales()) {
            List<CurvePanel> panels = METRICS.entrySet().stream()
                    .map(metric -> new CurvePanel(metric.getValue(), curves(scale, metric.getKey())))
                    .filter(panel -> !panel.curves().isEmpty())
                    .toList();
            if (!panels.isEmpty()) {
                String text = Markdown.plain(scale);
                pictures.put(
                        "distribution_scale_" + text,
                        Pictures.curves("Share of values at most so long, scale " + text, panels));
            }
        }
    }

    private List<Curve> curves(double scale, String metric) {
        return labels().stream()
                .flatMap(label ->
                        runs(label, scale).filter(run -> run.has(metric)).limit(1))
                .map(run ->
                        new Curve(run.label(), numbers(run.node().path(metric).path("curve"))))
                .filter(curve -> !curve.quantiles().isEmpty())
                .toList();
    }

    private static List<Double> numbers(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false)
                .map(JsonNode::asDouble)
                .toList();
    }

    private void pareto(String file, String title, String detail, List<Run> runs) {
        List<Trade> trades = runs.stream()
                .filter(run -> run.has("e2e_ms") && run.has("tpot_ms"))
                .map(run -> new Trade(
                        run.label(),
                        shortened(run.node().path(detail).asDouble()),
                        run.spread("tpot_ms").p90(),
                        run.node().path("output_tokens_per_second").asDouble() / Math.max(1, run.gpus())))
                .toList();
        if (!trades.isEmpty()) {
            pictures.put(file, Pictures.pareto(title, "TPOT p90, ms", yieldLabel(runs), trades));
        }
    }

    private static String shortened(double value) {
        return Markdown.plain(
                new BigDecimal(value).round(new MathContext(LABEL_DIGITS)).doubleValue());
    }

    private static String yieldLabel(List<Run> runs) {
        if (runs.stream().allMatch(run -> run.gpus() > 0)) {
            return "output tokens/s per GPU";
        }
        return runs.stream().noneMatch(run -> run.gpus() > 0)
                ? "output tokens/s of the machine"
                : "output tokens/s per GPU, or of a machine without";
    }

    /** Engines at the same scale one below the other, on the same axis. */
    private void timelines() {
        online.stream()
                .filter(run -> run.node().path("repeat").asInt() == 0)
                .filter(run -> !lives(run).isEmpty())
                .sorted(Comparator.comparingDouble(Run::scale))
                .limit(MAX_TIMELINES)
                .forEach(run -> {
                    String scale = Markdown.plain(run.scale());
                    String title = "Requests of " + run.label() + " at scale " + scale;
                    pictures.put(
                            "timeline_" + fileName(run.label()) + "_scale_" + scale,
                            Pictures.timeline(title, lastEnd(run.scale()), lives(run)));
                });
    }

    private static List<Life> lives(Run run) {
        return run.node()
                .path("timeline")
                .valueStream()
                .map(row -> new Life(
                        row.path(0).asDouble(),
                        row.path(1).asDouble(),
                        row.path(2).asDouble()))
                .toList();
    }

    private double lastEnd(double scale) {
        return online.stream()
                .filter(run -> run.scale() == scale)
                .flatMap(run -> lives(run).stream())
                .mapToDouble(Life::end)
                .max()
                .orElse(1);
    }

    private static String fileName(String label) {
        var name = new StringBuilder();
        label.chars().forEach(c -> name.append(Character.isLetterOrDigit(c) || c == '-' || c == '.' ? (char) c : '_'));
        return name.toString();
    }
}
