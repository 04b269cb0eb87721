package roselle.bench.backend;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * How to start an engine's process and know that it is ready.
 *
 * @param command without placeholders
 * @param environment beside this process's own
 * @param health answers 200 once the engine is ready
 * @param timeout until then
 * @param log where its output goes
 */
public record Launch(List<String> command, Map<String, String> environment, URI health, Duration timeout, Path log) {
    public Launch {
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
    }
}
