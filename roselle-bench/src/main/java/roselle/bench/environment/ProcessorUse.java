package roselle.bench.environment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.StringTokenizer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * How many cores were busy over a time span, on average: all of the machine's, those of this process, which makes the load,
 * and those of the engine that is measured. What is left was taken by programs that have no part in the measurement.
 *
 * @param machine absent where the system does not count as Linux does
 * @param engine absent for one that somebody else started
 */
public record ProcessorUse(OptionalDouble machine, double generator, OptionalDouble engine) {
    private static final Path COUNTERS = Path.of("/proc/stat");
    private static final long NANOS_PER_TICK = 10_000_000; // Linux counts in hundredths of a second

    /** A span that has begun. */
    public interface Span {
        /** Ends it. */
        ProcessorUse end();
    }

    private record Reading(long moment, OptionalLong machine, long generator, OptionalLong engine) {
        static Reading now(Supplier<OptionalLong> engineNanos) {
            return new Reading(System.nanoTime(), machineNanos(), ownNanos(), engineNanos.get());
        }
    }

    /** Begins a span; the supplier tells the processor time of the engine so far. */
    public static Span begin(Supplier<OptionalLong> engineNanos) {
        Reading before = Reading.now(engineNanos);
        return () -> {
            Reading after = Reading.now(engineNanos);
            double span = after.moment - before.moment;
            return new ProcessorUse(
                    cores(before.machine, after.machine, span),
                    (after.generator - before.generator) / span,
                    cores(before.engine, after.engine, span));
        };
    }

    /** Begins a span in which the engine is this very process, so that nothing but it makes the load. */
    public static Span beginWithin() {
        Span span = begin(() -> OptionalLong.of(0));
        return () -> {
            ProcessorUse use = span.end();
            return new ProcessorUse(use.machine, 0, OptionalDouble.of(use.generator));
        };
    }

    /** The mean over spans, each by its length; what one of them does not tell is absent. */
    public static ProcessorUse mean(List<ProcessorUse> uses, List<Double> seconds) {
        return new ProcessorUse(
                mean(uses, seconds, ProcessorUse::machine),
                mean(uses, seconds, use -> OptionalDouble.of(use.generator)).orElse(0),
                mean(uses, seconds, ProcessorUse::engine));
    }

    private static OptionalDouble mean(
            List<ProcessorUse> uses, List<Double> seconds, Function<ProcessorUse, OptionalDouble> part) {
        double sum = 0;
        double span = 0;
        for (int i = 0; i < uses.size(); i++) {
            OptionalDouble cores = part.apply(uses.get(i));
            if (cores.isEmpty()) {
                return OptionalDouble.empty();
            }
            sum += cores.getAsDouble() * seconds.get(i);
            span += seconds.get(i);
        }
        return span > 0 ? OptionalDouble.of(sum / span) : OptionalDouble.empty();
    }

    private static OptionalDouble cores(OptionalLong before, OptionalLong after, double span) {
        return before.isPresent() && after.isPresent()
                ? OptionalDouble.of((after.getAsLong() - before.getAsLong()) / span)
                : OptionalDouble.empty();
    }

    private static long ownNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .map(Duration::toNanos)
                .orElse(0L);
    }

    private static OptionalLong machineNanos() {
        try (var lines = Files.lines(COUNTERS)) {
            return busyNanos(lines.findFirst().orElse(""));
        } catch (IOException _) {
            return OptionalLong.empty(); // another system
        }
    }

    /** Of {@code cpu user nice system idle iowait irq softirq …}, all that was not idle; what a hypervisor took is not ours. */
    static OptionalLong busyNanos(String line) {
        var words = new StringTokenizer(line);
        if (words.countTokens() < 8 || !words.nextToken().equals("cpu")) {
            return OptionalLong.empty();
        }
        long ticks = 0;
        for (int i = 0; i < 7; i++) {
            long count = Long.parseLong(words.nextToken());
            ticks += i == 3 || i == 4 ? 0 : count;
        }
        return OptionalLong.of(ticks * NANOS_PER_TICK);
    }

    /** What programs took that have no part in the measurement; absent where one of the others is. */
    public OptionalDouble others() {
        return machine.isPresent() && engine.isPresent()
                ? OptionalDouble.of(Math.max(0, machine.getAsDouble() - generator - engine.getAsDouble()))
                : OptionalDouble.empty();
    }

    /** As fields of a result; what is not known is left out. */
    public Map<String, Object> fields() {
        var fields = new LinkedHashMap<String, Object>();
        machine.ifPresent(cores -> fields.put("machine_cores", hundredths(cores)));
        fields.put("generator_cores", hundredths(generator));
        engine.ifPresent(cores -> fields.put("engine_cores", hundredths(cores)));
        others().ifPresent(cores -> fields.put("other_cores", hundredths(cores)));
        return fields;
    }

    private static double hundredths(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
