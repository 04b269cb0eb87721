import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import roselle.api.GenerationRequest;
import roselle.backend.DeviceOptions;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.Served;
import roselle.server.config.ServedModel;
import roselle.server.pool.EnginePool;
import roselle.server.pool.Lease;

/**
 * How long two models take to follow each other in memory for one: {@code SwitchTimes FIRST SECOND [DEVICE [SWITCHES [HOST]]]}; prints CSV.
 *
 * <p>A pool loads what it is asked for, as the server's does. Times are until the model can be asked, and from there until the first
 * token of a prompt of four; files are in the page cache from the second switch to each model on. {@code tools/switch/run.sh} gets all
 * that it needs and runs it.
 */
final class SwitchTimes {
    private SwitchTimes() {}

    public static void main(String[] arguments) {
        String device = arguments.length > 2 ? arguments[2] : "cpu";
        int switches = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 10;
        List<EngineConfig> configs = List.of(config(arguments[0], device), config(arguments[1], device));
        long budget = configs.stream()
                .mapToLong(config -> Engine.plan(config).totalBytes())
                .max()
                .orElseThrow();
        var models = List.of(PooledModel.of("first", configs.get(0)), PooledModel.of("second", configs.get(1)));
        long hostMemory = arguments.length > 4 ? Long.parseLong(arguments[4]) << 30 : 0;
        var options = new PoolOptions(models, budget, Duration.ofMinutes(10)).withHostMemory(hostMemory);
        System.out.println("switch,model,until it can be asked ms,first token ms,phases");
        try (var pool = EnginePool.open(options)) {
            for (int turn = 0; turn < switches; turn++) {
                measure(pool, turn, turn % 2 == 0 ? "first" : "second");
            }
        }
    }

    private static EngineConfig config(String model, String device) {
        return EngineConfig.of(Path.of(model))
                .with(new DeviceOptions(device, 0))
                .with(new CacheOptions("auto", 1L << 30, 16, true))
                .with(new BatchOptions(4096, 8, 512, 0, 64));
    }

    private static void measure(EnginePool pool, int turn, String name) {
        long begin = System.nanoTime();
        try (Lease<Served> lease = pool.models().use(name, _ -> {})) {
            long ready = System.nanoTime();
            Engine engine = ((ServedModel) lease.model()).engine();
            var request = GenerationRequest.builder()
                    .tokens(5, 6, 7, 8)
                    .maxTokens(1)
                    .ignoreEos(true)
                    .build();
            try (var generation = engine.submit(request)) {
                generation.text();
            }
            long told = System.nanoTime();
            System.out.printf(
                    Locale.ROOT,
                    "%d,%s,%.1f,%.1f,\"%s\"%n",
                    turn,
                    name,
                    (ready - begin) / 1e6,
                    (told - ready) / 1e6,
                    engine.timeline().describe().strip().replaceAll("\\s+", " "));
        }
    }
}
