package roselle.server.control;

import java.time.Duration;
import java.util.Optional;
import roselle.embedding.EmbeddingStatus;
import roselle.engine.EngineStatus;
import roselle.server.answer.Readiness;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;

/**
 * Complains of an engine that has ended, or whose step does not end.
 *
 * @param patience how long a step may take
 */
public record StepWatch(Served model, Duration patience) implements Readiness.Check {
    @Override
    public Optional<String> complaint() {
        return switch (model) {
            case ServedModel generating ->
                complaint(model.name(), generating.engine().status(), patience);
            case ServedEncoder encoder -> complaint(encoder);
        };
    }

    /** The same of an engine that has not ended. */
    Optional<String> slowness() {
        return death(model).isEmpty() ? complaint() : Optional.empty();
    }

    /** Why an engine has ended, if it has. */
    static Optional<String> death(Served model) {
        return switch (model) {
            case ServedModel generating -> {
                EngineStatus status = generating.engine().status();
                yield status.isAlive() ? Optional.empty() : Optional.of(status.failure());
            }
            case ServedEncoder encoder -> {
                EmbeddingStatus status = encoder.engine().status();
                yield status.isAlive() ? Optional.empty() : Optional.of(status.failure());
            }
        };
    }

    /** What is wrong with an engine of this name and status, in a sentence. */
    static Optional<String> complaint(String name, EngineStatus status, Duration patience) {
        return status.isAlive() ? slowness(name, status.turnNanos(), patience) : failure(name, status.failure());
    }

    private Optional<String> complaint(ServedEncoder encoder) {
        EmbeddingStatus status = encoder.engine().status();
        return status.isAlive()
                ? slowness(encoder.name(), status.turnNanos(), patience)
                : failure(encoder.name(), status.failure());
    }

    private static Optional<String> failure(String name, String reason) {
        return Optional.of("the engine of " + name + " has failed: restart the server (" + reason + ")");
    }

    private static Optional<String> slowness(String name, long turnNanos, Duration patience) {
        return turnNanos <= patience.toNanos()
                ? Optional.empty()
                : Optional.of("the engine of " + name + " has been in one step for " + turnNanos / 1_000_000_000L
                        + " s, of at most " + patience.toSeconds());
    }
}
