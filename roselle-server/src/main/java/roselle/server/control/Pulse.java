package roselle.server.control;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineStatus;
import roselle.engine.Generation;
import roselle.server.config.ServedModel;

/**
 * Proves that one engine can still produce a token, without a request for each time that it is asked.
 *
 * <p>A token is proof, a step is none: it may have failed for all that were in it. An engine that has made tokens since the last proof
 * is its own. One that is idle, or whose latest answers failed, is given a request for one token, at most once in {@link #VALID}, and
 * by one caller at a time: the others are told what was last known. One that has work and does not step for the patience with a step
 * is stuck.
 */
final class Pulse {
    private static final Duration VALID = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int PROBE_PRIORITY = 1000;

    private final String name;
    private final Engine engine;
    private final Duration stepPatience;
    private final LongSupplier clock;
    private final ReentrantLock probing = new ReentrantLock();
    private volatile long provenAt;
    private volatile long provenTokens = -1;
    private volatile Optional<String> complaint = Optional.empty();

    /** A pulse that reads {@code clock} in nanoseconds. */
    Pulse(ServedModel model, Duration stepPatience, LongSupplier clock) {
        this.stepPatience = stepPatience;
        name = model.name();
        engine = model.engine();
        this.clock = clock;
    }

    /** What is wrong, in a sentence, or nothing. */
    Optional<String> complaint() {
        if (engine.cache().isAsleep()) {
            return Optional.empty(); // as somebody wants it
        }
        EngineStatus status = engine.status();
        Optional<String> stuck = StepWatch.complaint(name, status, stepPatience);
        if (stuck.isPresent()) {
            return stuck;
        }
        long tokens = status.totals().generatedTokens();
        boolean hasFailed = !status.failure().isEmpty();
        if (tokens != provenTokens && !hasFailed && tokens > 0) {
            prove(tokens, clock.getAsLong());
        } else if (mustProbe(hasFailed) && probing.tryLock()) {
            try {
                probeIfIdle(status);
            } finally {
                probing.unlock();
            }
        }
        return complaint;
    }

    /** A failure is looked into at once, but not again and again. */
    private boolean mustProbe(boolean hasFailed) {
        boolean isOld = clock.getAsLong() - provenAt > VALID.toNanos();
        return isOld || provenTokens < 0 || (hasFailed && complaint.isEmpty());
    }

    private void probeIfIdle(EngineStatus status) {
        provenAt = clock.getAsLong();
        if (status.running() == 0 && status.waiting() == 0) {
            complaint = probe();
        } else {
            complaint = status.failure().isEmpty()
                    ? Optional.empty()
                    : Optional.of("the latest answers of " + name + " failed: " + status.failure());
        }
    }

    private void prove(long tokens, long now) {
        provenTokens = tokens;
        provenAt = now;
        complaint = Optional.empty();
    }

    private Optional<String> probe() {
        int token = engine.endTokens().isEmpty() ? 0 : engine.endTokens().getFirst();
        var request = GenerationRequest.builder()
                .tokens(token)
                .maxTokens(1)
                .priority(PROBE_PRIORITY)
                .deadline(PATIENCE)
                .build();
        try (Generation generation = engine.submit(request)) {
            generation.text();
            prove(engine.status().totals().generatedTokens(), clock.getAsLong());
            return Optional.empty();
        } catch (RuntimeException failure) {
            return Optional.of("the engine of " + name + " could not make a token: " + failure.getMessage());
        }
    }
}
