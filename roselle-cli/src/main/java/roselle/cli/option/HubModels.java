package roselle.cli.option;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import roselle.cli.report.PullProgress;
import roselle.hub.Hub;
import roselle.hub.PullPlan;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubException;
import roselle.hub.request.HubName;

/** Turns names on the hub into paths: of what the cache has, else of what is fetched, which is said first. */
public final class HubModels {
    private HubModels() {}

    /**
     * The name that a user means: one that begins with {@code hf:}, or {@code org/name} where no such path is there and the
     * cache has that model. Without the prefix nothing is fetched, as it may be a path with a mistake in it.
     */
    static Optional<HubName> named(Path written, Path cache) {
        String text = written.toString();
        if (HubName.isMeantBy(text)) {
            return Optional.of(HubName.parse(text));
        }
        boolean isPath = written.isAbsolute() || !HubName.isWellFormed(text) || Files.exists(written);
        return Optional.of(text)
                .filter(_ -> !isPath)
                .map(HubName::parse)
                .filter(name -> Hub.cached(cache, name).isPresent());
    }

    /** Where a model lies, fetched if it was not there; the hub is not asked when it was. */
    static Path resolve(HubName name, HubConfig config, PrintStream report) {
        return Hub.cached(config.cache(), name).orElseGet(() -> pull(name, config, report));
    }

    /** Where a model lies that is not fetched. */
    public static Path cached(HubName name, HubConfig config) {
        return Hub.cached(config.cache(), name)
                .orElseThrow(() -> new HubException(
                        HubException.Kind.NOT_FOUND,
                        name + " is not whole in the cache at " + config.cache() + ", and offline nothing is fetched"));
    }

    /** Fetches what the hub has of a model now. */
    public static Path pull(HubName name, HubConfig config, PrintStream report) {
        try (var hub = new Hub(config)) {
            PullPlan plan = hub.plan(name, PullProgress.ofPlanning(name, report));
            try (var progress = PullProgress.of(plan, report)) {
                return hub.pull(plan, progress);
            }
        }
    }
}
