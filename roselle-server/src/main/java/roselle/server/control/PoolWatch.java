package roselle.server.control;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import roselle.server.answer.Models;
import roselle.server.answer.Readiness;
import roselle.server.config.ServedModel;

/**
 * Complains of an engine of a pool whose step does not end, which nothing but a new start mends; one that has ended is loaded anew
 * when it is asked for.
 *
 * @param patience how long a step may take
 */
public record PoolWatch(Models models, Duration patience) implements Readiness.Check {
    @Override
    public Optional<String> complaint() {
        if (models.pool().isEmpty()) {
            return Optional.empty();
        }
        return models.loaded().stream()
                .map(model -> new StepWatch(model, patience).slowness())
                .flatMap(Optional::stream)
                .findFirst();
    }

    /** Why models of a pool, by name, do not answer at the moment: a load failed, or an engine ended. */
    Map<String, String> failures() {
        var failures = new TreeMap<String, String>();
        models.pool()
                .ifPresent(pool -> pool.models().states().stream()
                        .filter(state -> !state.failure().isEmpty())
                        .forEach(state -> failures.put(state.name(), state.failure())));
        if (models.pool().isPresent()) {
            models.loaded()
                    .forEach(model -> StepWatch.death(model)
                            .ifPresent(why -> failures.put(
                                    model.name(),
                                    "its engine has ended, and the next request loads it anew (" + why + ")")));
        }
        return failures;
    }

    /** Names a model that sleeps, where it is one of those that stay as they are. */
    public static Optional<String> sleeper(Models models) {
        return models.fixed().stream()
                .filter(model -> model instanceof ServedModel generating
                        && generating.engine().cache().isAsleep())
                .map(model -> "the model " + model.name() + " sleeps")
                .findFirst();
    }
}
