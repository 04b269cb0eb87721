package roselle.spring.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import roselle.engine.Engine;
import roselle.engine.EngineStatus;

/** What Actuator says of the engine's health, where the application has Actuator. */
@AutoConfiguration(after = RoselleAutoConfiguration.class)
@ConditionalOnClass(HealthIndicator.class)
public class RoselleHealthAutoConfiguration {
    @Bean
    @ConditionalOnBean(Engine.class)
    @ConditionalOnMissingBean(name = "roselleHealthIndicator")
    HealthIndicator roselleHealthIndicator(Engine engine) {
        return () -> {
            EngineStatus status = engine.status();
            Health.Builder health = status.isAlive() ? Health.up() : Health.down();
            if (!status.failure().isEmpty()) {
                health.withDetail("failure", status.failure());
            }
            return health.withDetail("device", status.device())
                    .withDetail("running", status.running())
                    .withDetail("waiting", status.waiting())
                    .build();
        };
    }
}
