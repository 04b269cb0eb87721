package roselle.spring.autoconfigure;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import roselle.engine.Engine;
import roselle.engine.EngineStatus;

/** Meters of the engine, where the application has Micrometer. */
@AutoConfiguration(after = RoselleAutoConfiguration.class)
@ConditionalOnClass(MeterBinder.class)
public class RoselleMetricsAutoConfiguration {
    @Bean
    @ConditionalOnBean(Engine.class)
    @ConditionalOnMissingBean(name = "roselleMeters")
    MeterBinder roselleMeters(Engine engine) {
        return registry -> {
            gauge("roselle.running", status -> status.running(), engine).register(registry);
            gauge("roselle.waiting", status -> status.waiting(), engine).register(registry);
            counter("roselle.prompt.tokens", status -> status.totals().promptTokens(), engine)
                    .register(registry);
            counter("roselle.generated.tokens", status -> status.totals().generatedTokens(), engine)
                    .register(registry);
            counter("roselle.cached.tokens", status -> status.totals().cachedTokens(), engine)
                    .register(registry);
        };
    }

    private static Gauge.Builder<Engine> gauge(String name, ToDoubleFunction<EngineStatus> value, Engine engine) {
        return Gauge.builder(name, engine, each -> value.applyAsDouble(each.status()));
    }

    private static FunctionCounter.Builder<Engine> counter(
            String name, ToDoubleFunction<EngineStatus> value, Engine engine) {
        return FunctionCounter.builder(name, engine, each -> value.applyAsDouble(each.status()));
    }
}
