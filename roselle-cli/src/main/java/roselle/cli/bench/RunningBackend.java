package roselle.cli.bench;

import java.util.List;
import java.util.Optional;
import roselle.bench.backend.BackendProcess;
import roselle.bench.backend.EngineVersion;
import roselle.bench.backend.Target;
import roselle.bench.report.BackendNote;

/**
 * An engine that answers; closing it stops what was started for it.
 *
 * @param command that started it; empty for one that ran already
 */
record RunningBackend(NamedBackend backend, Target target, List<String> command) implements AutoCloseable {
    /** What was started for it; empty for one that ran already. */
    Optional<BackendProcess> process() {
        return target.process();
    }

    /** What results say of it. */
    BackendNote note(Optional<String> failure) {
        return new BackendNote(
                backend.name(),
                backend.profile().label(),
                target.base().toString(),
                target.model(),
                EngineVersion.of(target),
                command,
                readySeconds(),
                backend.promptFormat(),
                backend.settings().gpus(),
                backend.profile().note(),
                failure);
    }

    /** From its start until it was ready; 0 where it ran already. */
    double readySeconds() {
        return process().map(BackendProcess::readySeconds).orElse(0.0);
    }

    @Override
    public void close() {
        process().ifPresent(BackendProcess::close);
    }
}
