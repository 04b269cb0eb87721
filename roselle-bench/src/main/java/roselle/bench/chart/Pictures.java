package roselle.bench.chart;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import roselle.bench.chart.Canvas.Anchor;
import roselle.bench.chart.Canvas.Point;
import roselle.bench.chart.Panel.Area;

/** The pictures that results are drawn as. */
public final class Pictures {
    private static final int WIDTH = 920;
    private static final int HEADER = 62;
    private static final int CELL = 300;

    /** The summary of one metric of a run, in milliseconds. */
    public record Spread(double p50, double p90, double p99) {
        double most() {
            return Math.max(p99, Math.max(p90, p50));
        }
    }

    /** A series of summaries, each at the place of its category; places may be missing. */
    public record Band(String name, List<Integer> places, List<Spread> spreads) {
        public Band {
            places = List.copyOf(places);
            spreads = List.copyOf(spreads);
        }
    }

    /** A panel of bands. */
    public record BandPanel(String title, List<Band> bands) {
        public BandPanel {
            bands = List.copyOf(bands);
        }
    }

    /** A distribution as its quantiles from 0 to 1 in even steps. */
    public record Curve(String name, List<Double> quantiles) {
        public Curve {
            quantiles = List.copyOf(quantiles);
        }
    }

    /** A panel of distributions. */
    public record CurvePanel(String title, List<Curve> curves) {
        public CurvePanel {
            curves = List.copyOf(curves);
        }
    }

    /** One request's life, in seconds since the start of its run. */
    public record Life(double start, double first, double end) {}

    /** A measured point: a cost and a yield. */
    public record Trade(String name, String detail, double cost, double yield) {}

    /** A bar of a group. */
    public record Bar(String group, String series, double value) {}

    private Pictures() {}

    /** Up to four panels: a band from p50 to p90, a line at p90, a hollow mark at p99. */
    public static Picture bands(String title, String across, List<String> places, List<BandPanel> panels) {
        List<String> names = panels.stream()
                .flatMap(panel -> panel.bands().stream().map(Band::name))
                .distinct()
                .toList();
        return grid(title, panels.size(), names, (canvas, area, i) -> {
            BandPanel content = panels.get(i);
            double most = spreads(content).mapToDouble(Spread::most).max().orElse(1);
            double least = spreads(content).mapToDouble(Spread::p50).min().orElse(0);
            var panel = new Panel(
                    canvas,
                    area,
                    content.title(),
                    Axis.places(across, places.size()),
                    Axis.of("ms", least, most),
                    places);
            content.bands().forEach(band -> draw(panel, band, names.indexOf(band.name()), names.size()));
        });
    }

    private static Stream<Spread> spreads(BandPanel panel) {
        return panel.bands().stream().flatMap(band -> band.spreads().stream());
    }

    private static void draw(Panel panel, Band band, int series, int count) {
        Ink ink = Ink.series(series);
        double shift = (series - (count - 1) / 2.0) * Math.min(0.12, 0.6 / count);
        var lower = new ArrayList<Point>();
        var upper = new ArrayList<Point>();
        for (int i = 0; i < band.places().size(); i++) {
            double at = band.places().get(i) + shift;
            lower.add(panel.place(at, band.spreads().get(i).p50()));
            upper.add(panel.place(at, band.spreads().get(i).p90()));
        }
        var corners = new ArrayList<>(lower);
        upper.reversed().forEach(corners::add);
        panel.canvas().area(corners, ink.faded(0.22));
        panel.canvas().line(upper, ink);
        for (int i = 0; i < upper.size(); i++) {
            panel.canvas().line(List.of(lower.get(i), upper.get(i)), ink.faded(0.6));
            panel.canvas().circle(upper.get(i), 2.5, true, ink);
            double at = band.places().get(i) + shift;
            panel.canvas().circle(panel.place(at, band.spreads().get(i).p99()), 4, false, ink);
        }
    }

    /** Up to four panels of cumulative shares. */
    public static Picture curves(String title, List<CurvePanel> panels) {
        List<String> names = panels.stream()
                .flatMap(panel -> panel.curves().stream().map(Curve::name))
                .distinct()
                .toList();
        return grid(title, panels.size(), names, (canvas, area, i) -> {
            CurvePanel content = panels.get(i);
            double most = content.curves().stream()
                    .mapToDouble(curve -> curve.quantiles().getLast())
                    .max()
                    .orElse(1);
            double least =
                    content.curves().stream().mapToDouble(Pictures::least).min().orElse(0);
            var panel = new Panel(
                    canvas,
                    area,
                    content.title(),
                    Axis.of("ms", least, most),
                    new Axis("share", 0, 1, false),
                    List.of());
            for (Curve curve : content.curves()) {
                var points = new ArrayList<Point>();
                int steps = curve.quantiles().size() - 1;
                for (int step = 0; step <= steps; step++) {
                    points.add(panel.place(curve.quantiles().get(step), steps == 0 ? 1 : (double) step / steps));
                }
                canvas.line(points, Ink.series(names.indexOf(curve.name())));
            }
        });
    }

    /** Where a curve leaves the left side: above its lowest 2 %, and above gaps of nothing, which a logarithm cannot show. */
    private static double least(Curve curve) {
        List<Double> quantiles = curve.quantiles();
        double most = quantiles.getLast();
        return quantiles.subList(quantiles.size() / 50, quantiles.size()).stream()
                .mapToDouble(Double::doubleValue)
                .filter(value -> value > most * 1e-6)
                .findFirst()
                .orElse(0);
    }

    /**
     * Requests in the order of their start: waiting for the first token pale, writing dark.
     *
     * @param seconds across, so that several engines can have the same
     */
    public static Picture timeline(String title, double seconds, List<Life> lives) {
        int height = HEADER + Math.clamp(lives.size() * 4L, 200, 760);
        return new Picture(title, WIDTH, height, canvas -> {
            heading(canvas, title, List.of());
            var panel = new Panel(
                    canvas,
                    new Area(0, 30, WIDTH, height - 30),
                    "pale: until the first token; dark: until the last",
                    Axis.fromZero("seconds", seconds),
                    new Axis("request", lives.size(), 0, false),
                    List.of());
            for (int i = 0; i < lives.size(); i++) {
                Life life = lives.get(i);
                Point first = panel.place(life.first(), i + 0.5);
                canvas.line(
                        List.of(panel.place(life.start(), i + 0.5), first),
                        Ink.series(4).faded(0.6));
                canvas.line(List.of(first, panel.place(life.end(), i + 0.5)), Ink.series(0));
            }
        });
    }

    /** Points with the line of those that no other beats in both directions: less cost, more yield. */
    public static Picture pareto(String title, String cost, String yield, List<Trade> trades) {
        List<String> names = trades.stream().map(Trade::name).distinct().toList();
        return grid(title, 1, names, (canvas, area, i) -> {
            double mostCost = trades.stream().mapToDouble(Trade::cost).max().orElse(1);
            double leastCost = trades.stream().mapToDouble(Trade::cost).min().orElse(0);
            double mostYield = trades.stream().mapToDouble(Trade::yield).max().orElse(1);
            var panel = new Panel(
                    canvas, area, "", Axis.of(cost, leastCost, mostCost), Axis.fromZero(yield, mostYield), List.of());
            canvas.line(
                    front(trades).stream()
                            .map(trade -> panel.place(trade.cost(), trade.yield()))
                            .toList(),
                    Ink.FRAME);
            for (Trade trade : trades) {
                Point at = panel.place(trade.cost(), trade.yield());
                canvas.circle(at, 4, true, Ink.series(names.indexOf(trade.name())));
                canvas.text(new Point(at.x() + 7, at.y() - 5), trade.detail(), 10, Anchor.START, false);
            }
        });
    }

    /** The trades that no other beats, by rising cost. */
    static List<Trade> front(List<Trade> trades) {
        var sorted = new ArrayList<>(trades);
        sorted.sort(Comparator.comparingDouble(Trade::cost)
                .thenComparing(Comparator.comparingDouble(Trade::yield).reversed()));
        var front = new ArrayList<Trade>();
        for (Trade trade : sorted) {
            if (front.isEmpty() || trade.yield() > front.getLast().yield()) {
                front.add(trade);
            }
        }
        return front;
    }

    /** Groups of bars. */
    public static Picture bars(String title, String unit, List<Bar> bars) {
        List<String> groups = bars.stream().map(Bar::group).distinct().toList();
        List<String> names = bars.stream().map(Bar::series).distinct().toList();
        return grid(title, 1, names, (canvas, area, i) -> {
            double most = most(bars, Bar::value);
            var panel = new Panel(canvas, area, "", Axis.places("", groups.size()), Axis.fromZero(unit, most), groups);
            double width = 0.8 / names.size();
            for (Bar bar : bars) {
                double left = groups.indexOf(bar.group()) - 0.4 + names.indexOf(bar.series()) * width;
                draw(panel, bar, left, width, names.indexOf(bar.series()));
            }
        });
    }

    private static void draw(Panel panel, Bar bar, double left, double width, int series) {
        Point low = panel.place(left + width * 0.05, 0);
        Point high = panel.place(left + width * 0.95, bar.value());
        panel.canvas()
                .area(
                        List.of(low, new Point(low.x(), high.y()), high, new Point(high.x(), low.y())),
                        Ink.series(series));
        panel.canvas()
                .text(
                        new Point((low.x() + high.x()) / 2, high.y() - 4),
                        Axis.text(bar.value()),
                        11,
                        Anchor.MIDDLE,
                        false);
    }

    private static double most(List<Bar> bars, ToDoubleFunction<Bar> value) {
        return bars.isEmpty()
                ? 1
                : Collections.max(bars.stream().map(value::applyAsDouble).toList());
    }

    /** Draws one panel of a picture. */
    private interface Cell {
        void draw(Canvas canvas, Area area, int index);
    }

    /** Panels in two columns below a title and a legend; a single one has the whole width. */
    private static Picture grid(String title, int panels, List<String> names, Cell cell) {
        int columns = panels == 1 ? 1 : 2;
        int rows = (panels + columns - 1) / columns;
        int cellHeight = panels == 1 ? CELL + 60 : CELL;
        return new Picture(title, WIDTH, HEADER + rows * cellHeight, canvas -> {
            heading(canvas, title, names);
            double width = (double) WIDTH / columns;
            for (int i = 0; i < panels; i++) {
                int row = i / columns;
                double left = i % columns * width;
                cell.draw(canvas, new Area(left, HEADER + (double) row * cellHeight, width, cellHeight), i);
            }
        });
    }

    private static void heading(Canvas canvas, String title, List<String> names) {
        canvas.text(new Point(WIDTH / 2.0, 22), title, 16, Anchor.MIDDLE, false);
        Panel.legend(canvas, 58, 46, WIDTH - 70, names);
    }
}
