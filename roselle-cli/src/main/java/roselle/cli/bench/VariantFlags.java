package roselle.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;
import roselle.api.InvalidRequestException;
import roselle.bench.report.OnlineResults;
import roselle.bench.stage.Differences;
import roselle.bench.stage.OnlinePlan;
import roselle.bench.stage.OnlineRun;
import roselle.bench.stage.OnlineStage;
import roselle.cli.report.Heading;

/** The options that compare Roselle with itself under other flags. */
@Heading("Variants")
final class VariantFlags {
    private static final int MIN_ROUNDS = 3;

    @Option(
            names = "--variant",
            paramLabel = "NAME:FLAGS",
            description = "Compare Roselle with these flags to the first variant; may be repeated, and --repeats is at"
                    + " least 3 then. Each repeat starts each variant anew, in turn, so that a drift of the machine"
                    + " meets all of them.")
    private List<String> variants = List.of();

    boolean isUsed() {
        return !variants.isEmpty();
    }

    /** The variants as engines, made from Roselle as it is without them. */
    List<NamedBackend> named(NamedBackend roselle) {
        if (variants.size() < 2) {
            throw new InvalidRequestException(
                    "there is one --variant: a comparison needs two, and one may have no flags");
        }
        if (roselle.url().isPresent()) {
            throw new InvalidRequestException("--variant has flags to start an engine with, and "
                    + roselle.url().orElseThrow() + " runs already: leave the address out");
        }
        return variants.stream().map(text -> variant(roselle, text)).toList();
    }

    private static NamedBackend variant(NamedBackend roselle, String text) {
        int colon = text.indexOf(':');
        if (colon < 1) {
            throw new InvalidRequestException(
                    "--variant is " + text + ": write NAME:FLAGS, as in small:--chunk-tokens 64");
        }
        var further = new ArrayList<>(roselle.settings().further());
        further.addAll(NamedBackend.Settings.words(text.substring(colon + 1)));
        return roselle.with(text.substring(0, colon), further);
    }

    /** Measures all variants in rounds and adds their differences; false where one failed. */
    boolean measure(
            List<NamedBackend> engines,
            OnlinePlan plan,
            OnlineStage stage,
            OnlineResults results,
            Measurement measurement)
            throws InterruptedException {
        var runs = new ArrayList<OnlineRun>();
        boolean isWhole = true;
        for (int round = 0; round < Math.max(MIN_ROUNDS, plan.repeats()); round++) {
            for (NamedBackend engine : engines) {
                int repeat = round;
                isWhole &= measurement.attempt(
                        engine,
                        () -> {
                            try (RunningBackend running = engine.start(measurement.folder())) {
                                measurement.say("round " + repeat + ": " + engine.name());
                                stage.round(running.target(), repeat, runs::add);
                                if (repeat == 0) {
                                    results.add(running.note(Optional.empty()));
                                }
                            }
                        },
                        reason -> results.add(engine.failed(reason)));
            }
        }
        runs.forEach(results::add);
        Differences.of(runs).forEach(results::add);
        return isWhole;
    }
}
