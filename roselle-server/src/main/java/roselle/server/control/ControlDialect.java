package roselle.server.control;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.answer.Readiness;
import roselle.server.http.ApiException;
import roselle.server.http.Dialect;
import roselle.server.http.Exchange;
import roselle.server.http.JsonText;
import roselle.server.http.Routes;

/** Health, readiness, version, tokens of a text. */
public final class ControlDialect implements Dialect {
    private final List<Pulse> pulses;
    private final TokenRoutes tokens;
    private final Readiness readiness;

    /** The routes; an engine whose step takes longer than {@code stepPatience} is stuck. */
    public ControlDialect(Answers answers, Readiness readiness, Duration stepPatience) {
        pulses = answers.models().all().stream()
                .map(model -> new Pulse(model.engine(), stepPatience, System::nanoTime))
                .toList();
        tokens = new TokenRoutes(answers);
        this.readiness = readiness;
    }

    @Override
    public void register(Routes routes) {
        routes.get("/health", this::health).get("/ready", this::ready).get("/version", ControlDialect::version);
        tokens.register(routes);
    }

    private void health(Exchange exchange) {
        for (Pulse pulse : pulses) {
            pulse.complaint().ifPresent(why -> {
                throw new ApiException(503, ApiException.SERVER_ERROR, "engine_unavailable", "", why);
            });
        }
        exchange.sendJson(200, new JsonText().raw("{\"status\":\"ok\"}"));
    }

    private void ready(Exchange exchange) {
        Optional<String> complaint = readiness.complaint();
        complaint.ifPresent(why -> {
            throw new ApiException(503, ApiException.SERVER_ERROR, "not_ready", "", why);
        });
        exchange.sendJson(200, new JsonText().raw("{\"status\":\"ready\"}"));
    }

    private static void version(Exchange exchange) {
        var body = new JsonText().raw("{\"version\":").string(version()).raw("}");
        exchange.sendJson(200, body);
    }

    /** The version that the build wrote into the module, which only a module path keeps. */
    private static String version() {
        var descriptor = ControlDialect.class.getModule().getDescriptor();
        return descriptor == null ? "development" : descriptor.rawVersion().orElse("development");
    }
}
