package roselle.quarkus;

import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;
import roselle.engine.Engine;
import roselle.engine.EngineStatus;

/** The engine's readiness: up as long as it takes requests, or where no model is configured. */
@Readiness
@ApplicationScoped
public class EngineHealth implements HealthCheck {
    private final RoselleModels models;

    EngineHealth(RoselleModels models) {
        this.models = models;
    }

    @Override
    public HealthCheckResponse call() {
        HealthCheckResponseBuilder answer = HealthCheckResponse.named("roselle").up();
        models.opened().map(Engine::status).ifPresent(status -> describe(status, answer));
        return answer.build();
    }

    private static void describe(EngineStatus status, HealthCheckResponseBuilder answer) {
        answer.status(status.isAlive())
                .withData("device", status.device())
                .withData("running", status.running())
                .withData("waiting", status.waiting());
        if (!status.failure().isEmpty()) {
            answer.withData("failure", status.failure());
        }
    }
}
