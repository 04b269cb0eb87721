package roselle.server.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import roselle.server.answer.Models;
import roselle.server.answer.Readiness;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Dialect;
import roselle.server.http.ErrorKind;
import roselle.server.http.Errors;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;

/** Health, readiness, version. */
public final class ControlDialect implements Dialect {
    private final List<Pulse> pulses = new ArrayList<>();
    private final PoolWatch pooled;
    private final List<StepWatch> encoders =
            new ArrayList<>(); // whose engines end at the first failure: to be alive is proof
    private final Readiness readiness;
    private final Readiness.Check listening;

    /** The routes; an engine whose step takes longer than {@code stepPatience} is stuck. */
    public ControlDialect(Models models, Readiness readiness, Readiness.Check listening, Duration stepPatience) {
        for (Served served : models.fixed()) {
            switch (served) {
                case ServedModel model -> pulses.add(new Pulse(model, stepPatience, System::nanoTime));
                case ServedEncoder encoder -> encoders.add(new StepWatch(encoder, stepPatience));
            }
        }
        pooled = new PoolWatch(models, stepPatience);
        this.readiness = readiness;
        this.listening = listening;
    }

    @Override
    public void register(Routes routes) {
        routes.get("/health", this::health).get("/ready", this::ready).get("/version", ControlDialect::version);
    }

    /** Why the server should be started anew, if so. */
    public Optional<String> complaint() {
        return listening
                .complaint()
                .or(pooled::complaint)
                .or(() -> Stream.concat(
                                pulses.stream().map(Pulse::complaint),
                                encoders.stream().map(StepWatch::complaint))
                        .flatMap(Optional::stream)
                        .findFirst())
                .map(Errors::withoutFolders);
    }

    private void health(Exchange exchange) {
        complaint().ifPresent(why -> {
            throw new ApiException(ErrorKind.ENGINE_UNAVAILABLE, why);
        });
        send(exchange, "ok");
    }

    private void ready(Exchange exchange) {
        Optional<String> complaint = readiness.complaint();
        complaint.ifPresent(why -> {
            throw new ApiException(ErrorKind.NOT_READY, why);
        });
        send(exchange, "ready");
    }

    /** All is well; where single models of several are not, they are named: the others go on. */
    private void send(Exchange exchange, String status) {
        exchange.acceptAnyQuery(); // whoever watches servers is told how this one is
        var json = new JsonWriter().object().field("status", status);
        Map<String, String> failures = pooled.failures();
        if (!failures.isEmpty()) {
            json.array("failed");
            failures.forEach((name, why) -> json.object()
                    .field("name", name)
                    .field("failure", Errors.withoutFolders(why))
                    .endObject());
            json.endArray();
        }
        exchange.sendJson(200, json.endObject());
    }

    private static void version(Exchange exchange) {
        exchange.sendJson(
                200, new JsonWriter().object().field("version", version()).endObject());
    }

    /** The version that the build wrote into the module, which only a module path keeps. */
    public static String version() {
        var descriptor = ControlDialect.class.getModule().getDescriptor();
        return descriptor == null ? "development" : descriptor.rawVersion().orElse("development");
    }
}
