package roselle.spark;

import com.codahale.metrics.Gauge;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.jspecify.annotations.Nullable;
import roselle.engine.EngineStatus;

/**
 * Engines of executors in Spark's metrics, for {@code spark.plugins}: what they are doing, and what they have done since they were
 * opened.
 */
public final class RosellePlugin implements SparkPlugin {
    @Override
    public @Nullable DriverPlugin driverPlugin() {
        return null; // so Spark's interface says that there is none
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new OfExecutor();
    }

    private static final class OfExecutor implements ExecutorPlugin {
        @Override
        public void init(PluginContext context, Map<String, String> configuration) {
            var registry = context.metricRegistry();
            Map<String, ToLongFunction<EngineStatus>> gauges = Map.of(
                    "running", EngineStatus::running,
                    "waiting", EngineStatus::waiting,
                    "usedPages", EngineStatus::usedPages,
                    "totalPages", EngineStatus::totalPages,
                    "steps", status -> status.totals().steps(),
                    "promptTokens", status -> status.totals().promptTokens(),
                    "cachedTokens", status -> status.totals().cachedTokens(),
                    "generatedTokens", status -> status.totals().generatedTokens(),
                    "preemptions", status -> status.totals().preemptions());
            gauges.forEach((name, value) -> registry.register(name, (Gauge<Long>) () -> sum(value)));
        }

        private static long sum(ToLongFunction<EngineStatus> value) {
            return ExecutorEngines.OF_THIS_JVM.each((_, engine) -> value.applyAsLong(engine.status())).stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }

        @Override
        public void shutdown() {
            ExecutorEngines.OF_THIS_JVM.closeAll();
        }
    }
}
