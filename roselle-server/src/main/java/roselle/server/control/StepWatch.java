package roselle.server.control;

import java.time.Duration;
import java.util.Optional;
import roselle.engine.EngineStatus;
import roselle.server.answer.Readiness;
import roselle.server.config.ServedModel;

/**
 * Complains of an engine that has ended, or whose step does not end.
 *
 * @param patience how long a step may take
 */
public record StepWatch(ServedModel model, Duration patience) implements Readiness.Check {
    @Override
    public Optional<String> complaint() {
        return complaint(model.name(), model.engine().status(), patience);
    }

    /** What is wrong with an engine of this name and status, in a sentence. */
    static Optional<String> complaint(String name, EngineStatus status, Duration patience) {
        if (!status.isAlive()) {
            return Optional.of("the engine of " + name + " has failed: restart the server (" + status.failure() + ")");
        }
        if (status.turnNanos() > patience.toNanos()) {
            return Optional.of("the engine of " + name + " has been in one step for "
                    + status.turnNanos() / 1_000_000_000L + " s, of at most " + patience.toSeconds());
        }
        return Optional.empty();
    }
}
