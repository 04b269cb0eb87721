package roselle.server.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.hub.BundledModel;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.Served;
import roselle.server.config.ServedModel;
import roselle.server.pool.EnginePool;
import roselle.server.pool.Lease;

/** Switches between two models in memory for one, and tells how much anonymous memory the process has in the meantime. */
public final class SwitchProbe {
    private static final int BLOCKS = 4;
    private static final long MOST_KIBIBYTES = 1024;

    private SwitchProbe() {}

    /**
     * Exits with 1 and a sentence where each of the last three of four blocks of switches takes more memory than the one before: what
     * leaks at every switch shows in every block, and what the compiler or the allocator takes at once, whenever that is, in one.
     */
    public static void main(String[] arguments) throws IOException {
        int switches = Integer.parseInt(arguments[0]);
        Path file = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        EngineConfig config = EngineConfig.of(file).with(new BatchOptions(256, 4, 64, 0, 16));
        long bytes = Engine.plan(config).totalBytes();
        var models = List.of(PooledModel.of("m0", config), PooledModel.of("m1", config));
        try (var pool = EnginePool.open(new PoolOptions(models, bytes, Duration.ofMinutes(5)))) {
            long[] taken = new long[BLOCKS + 1];
            for (int block = 0; block <= BLOCKS; block++) {
                taken[block] = anonymousKibibytes();
                for (int turn = 0; block < BLOCKS && turn < switches / BLOCKS; turn++) {
                    use(pool, "m" + turn % 2);
                }
            }
            long least = IntStream.rangeClosed(2, BLOCKS)
                    .mapToLong(block -> taken[block] - taken[block - 1])
                    .min()
                    .orElseThrow();
            System.out.printf(
                    "%d switches: %s KiB, %d loads%n",
                    switches,
                    java.util.Arrays.toString(taken),
                    pool.models().totals().loads());
            if (least > MOST_KIBIBYTES) {
                System.out.println("every " + switches / BLOCKS + " took " + least + " KiB or more");
                System.exit(1);
            }
        }
    }

    private static void use(EnginePool pool, String name) {
        try (Lease<Served> lease = pool.models().use(name, _ -> {})) {
            var request = GenerationRequest.builder().text("Once").maxTokens(2).build();
            try (var generation = ((ServedModel) lease.model()).engine().submit(request)) {
                generation.text();
            }
        }
    }

    private static long anonymousKibibytes() throws IOException {
        System.gc();
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("RssAnon:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
