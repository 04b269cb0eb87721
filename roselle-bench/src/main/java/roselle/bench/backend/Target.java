package roselle.bench.backend;

import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import roselle.bench.load.Endpoint;

/**
 * An engine that answers, and how to ask it.
 *
 * @param name in results
 * @param base of its paths, such as {@code http://127.0.0.1:8000}
 * @param model what it calls the model
 * @param headers of each request
 * @param process that was started for it; empty for one that ran already
 */
public record Target(
        String name,
        URI base,
        String model,
        RequestShape shape,
        Map<String, String> headers,
        Optional<BackendProcess> process) {
    public Target {
        headers = Map.copyOf(headers);
    }

    public Endpoint endpoint() {
        return new Endpoint(under(shape.path()), headers);
    }

    /** The processor time of the engine so far; empty for one that somebody else started. */
    public OptionalLong processorNanos() {
        return process.map(each -> OptionalLong.of(each.processorNanos())).orElse(OptionalLong.empty());
    }

    /** An address may have a path of its own before {@code /v1}, and may name that, too. */
    private URI under(String path) {
        String own = Optional.ofNullable(base.getRawPath()).orElse("");
        String prefix = own.endsWith("/") ? own.substring(0, own.length() - 1) : own;
        prefix = prefix.endsWith("/v1") ? prefix.substring(0, prefix.length() - "/v1".length()) : prefix;
        return base.resolve(prefix + path);
    }
}
