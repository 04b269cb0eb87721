package roselle.bench.trace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import roselle.api.InvalidRequestException;

/**
 * Traces made by a rule: {@code poisson:rate=4}, {@code gamma:rate=4,cv=2}, {@code constant:rate=4}, {@code
 * ramp:from=1,to=20,seconds=60}; each with {@code input=} and {@code output=}, a number of tokens or a range such as {@code
 * 64-512}, and {@code seed=}.
 *
 * <p>Gaps of a gamma process have the mean 1/rate and the coefficient of variation {@code cv}: 1 is Poisson, above 1 bursts.
 * A ramp's rate grows linearly, and the k-th request arrives when the integral of the rate reaches k.
 */
public final class SyntheticTrace {
    private static final Map<String, Set<String>> NUMBERS = Map.of(
            "poisson", Set.of("rate"),
            "gamma", Set.of("rate", "cv"),
            "constant", Set.of("rate"),
            "ramp", Set.of("from", "to", "seconds"));

    private final String name;
    private final String kind;
    private final Map<String, String> settings = new HashMap<>();
    private final SplittableRandom random;

    private SyntheticTrace(String name) {
        this.name = name;
        int colon = name.indexOf(':');
        kind = name.substring(0, colon);
        for (String setting : name.substring(colon + 1).split(",", -1)) {
            int equals = setting.indexOf('=');
            if (equals < 1 || !knows(setting.substring(0, equals))) {
                throw new InvalidRequestException("the trace " + name + " has " + setting + ": it takes "
                        + String.join(
                                ", ",
                                NUMBERS.getOrDefault(kind, Set.of()).stream()
                                        .sorted()
                                        .toList())
                        + ", input, output and seed, each as NAME=VALUE");
            }
            settings.put(setting.substring(0, equals), setting.substring(equals + 1));
        }
        random = new SplittableRandom((long) positive("seed", 1));
    }

    private boolean knows(String setting) {
        return NUMBERS.getOrDefault(kind, Set.of()).contains(setting)
                || Set.of("input", "output", "seed").contains(setting);
    }

    /** Whether a name is a rule, and not a file's. */
    public static boolean isRule(String name) {
        int colon = name.indexOf(':');
        return colon > 0 && NUMBERS.containsKey(name.substring(0, colon));
    }

    /** The first {@code count} requests of a rule. */
    public static Trace read(String name, int count) {
        return new SyntheticTrace(name).trace(count);
    }

    private Trace trace(int count) {
        DoubleSupplier arrivals = arrivals();
        var entries = new ArrayList<TraceEntry>();
        for (int i = 0; i < count; i++) {
            double arrival = arrivals.getAsDouble();
            entries.add(new TraceEntry(arrival, length("input", "256"), length("output", "64"), TraceEntry.NO_BLOCKS));
        }
        double first = entries.getFirst().arrivalSeconds();
        List<TraceEntry> shifted = entries.stream()
                .map(entry -> entry.arrivingAt(entry.arrivalSeconds() - first))
                .toList();
        return new Trace(name, kind, 0, shifted, 0);
    }

    private DoubleSupplier arrivals() {
        return switch (kind) {
            case "constant" -> summed(() -> 1 / required("rate"));
            case "poisson" -> summed(() -> exponential() / required("rate"));
            case "gamma" -> gamma(required("rate"), positive("cv", 1));
            case "ramp" -> ramp(required("from"), required("to"), required("seconds"));
            default -> throw new IllegalStateException(kind);
        };
    }

    private static DoubleSupplier summed(DoubleSupplier gaps) {
        double[] time = {0};
        return () -> time[0] += gaps.getAsDouble();
    }

    private DoubleSupplier gamma(double rate, double cv) {
        double shape = 1 / (cv * cv);
        return summed(() -> gamma(shape) / (shape * rate));
    }

    /** The k-th request at the t with from·t + (to − from)·t²/(2·seconds) = k; after the ramp its last rate stays. */
    private static DoubleSupplier ramp(double from, double to, double seconds) {
        double[] k = {0};
        double slope = (to - from) / seconds;
        double atEnd = (from + to) / 2 * seconds;
        return () -> {
            double count = k[0]++;
            if (count > atEnd) {
                return seconds + (count - atEnd) / to;
            }
            return Math.abs(slope) < 1e-12 ? count / from : (Math.sqrt(from * from + 2 * slope * count) - from) / slope;
        };
    }

    private double exponential() {
        return -Math.log(1 - random.nextDouble());
    }

    /** Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. */
    private double gamma(double shape) {
        if (shape < 1) {
            return gamma(shape + 1) * Math.pow(1 - random.nextDouble(), 1 / shape);
        }
        double d = shape - 1.0 / 3;
        double c = 1 / Math.sqrt(9 * d);
        while (true) {
            double x = random.nextGaussian();
            double v = Math.pow(1 + c * x, 3);
            if (v > 0 && Math.log(1 - random.nextDouble()) < x * x / 2 + d - d * v + d * Math.log(v)) {
                return d * v;
            }
        }
    }

    private int length(String setting, String otherwise) {
        String text = settings.getOrDefault(setting, otherwise);
        int dash = text.indexOf('-');
        int least = tokens(setting, dash < 0 ? text : text.substring(0, dash));
        int most = dash < 0 ? least : tokens(setting, text.substring(dash + 1));
        if (most < least) {
            throw new InvalidRequestException(setting + " is " + text + ": a range begins with its smaller number");
        }
        return least + random.nextInt(most - least + 1);
    }

    private int tokens(String setting, String text) {
        try {
            int tokens = Integer.parseInt(text);
            if (tokens >= 1 && tokens <= JsonLine.MAX_TOKENS) {
                return tokens;
            }
        } catch (NumberFormatException _) {
            // said below, with the value
        }
        throw new InvalidRequestException(
                "the trace " + name + " has " + setting + "=" + text + ": it must be a number of tokens, or a range");
    }

    private double required(String setting) {
        if (!settings.containsKey(setting)) {
            throw new InvalidRequestException("the trace " + name + " needs " + setting + "=…");
        }
        return positive(setting, 0);
    }

    private double positive(String setting, double otherwise) {
        String text = settings.get(setting);
        try {
            double value = text == null ? otherwise : Double.parseDouble(text);
            if (value > 0 && value < 1e9) {
                return value;
            }
        } catch (NumberFormatException _) {
            // said below, with the value
        }
        throw new InvalidRequestException(
                "the trace " + name + " has " + setting + "=" + text + ": it must be a number above 0");
    }
}
