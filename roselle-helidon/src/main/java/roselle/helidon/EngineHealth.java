package roselle.helidon;

import io.helidon.health.HealthCheck;
import io.helidon.health.HealthCheckResponse;
import io.helidon.health.HealthCheckType;
import roselle.engine.Engine;
import roselle.engine.EngineStatus;

/** The engine's readiness: up as long as it takes requests. */
record EngineHealth(Engine engine) implements HealthCheck {
    @Override
    public HealthCheckType type() {
        return HealthCheckType.READINESS;
    }

    @Override
    public String name() {
        return "roselle";
    }

    @Override
    public HealthCheckResponse call() {
        EngineStatus status = engine.status();
        HealthCheckResponse.Builder answer = HealthCheckResponse.builder()
                .status(status.isAlive())
                .detail("device", status.device())
                .detail("running", status.running())
                .detail("waiting", status.waiting());
        if (!status.failure().isEmpty()) {
            answer.detail("failure", status.failure());
        }
        return answer.build();
    }
}
