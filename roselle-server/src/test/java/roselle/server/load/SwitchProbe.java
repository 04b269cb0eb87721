package roselle.server.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import roselle.api.GenerationRequest;
import roselle.backend.DeviceOptions;
import roselle.backend.DeviceSensors;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.engine.EnginePlan;
import roselle.hub.BundledModel;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.Served;
import roselle.server.config.ServedModel;
import roselle.server.pool.EnginePool;
import roselle.server.pool.Lease;

/**
 * Switches between two models in memory for one, and tells what the process holds in the meantime: {@code SwitchProbe SWITCHES [MODEL
 * [DEVICE [HOST]]]}, where HOST are GiB of the machine's memory for weights that leave a GPU. Without a model it is the demo model on the
 * CPU.
 */
public final class SwitchProbe {
    private static final int BLOCKS = 4;
    private static final long MEBIBYTE = 1 << 20;
    private static final long KV_BYTES = 64 << 20;

    private SwitchProbe() {}

    /** What the process holds, and of its device what anybody does. */
    private record Held(long anonymousBytes, long residentBytes, long deviceBytes, long threads, long descriptors) {
        static Held now(String device) throws IOException {
            System.gc();
            try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
                return new Held(
                        status("RssAnon") << 10,
                        status("VmRSS") << 10,
                        usedOf(device),
                        status("Threads"),
                        files.count());
            }
        }

        private static long status(String name) throws IOException {
            try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
                return lines.filter(line -> line.startsWith(name + ":"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                        .findFirst()
                        .orElseThrow();
            }
        }

        private static long usedOf(String device) {
            if (!device.startsWith("cuda")) {
                return 0;
            }
            int index = device.contains(":") ? Integer.parseInt(device.substring(device.indexOf(':') + 1)) : 0;
            return ServiceLoader.load(DeviceSensors.class).stream()
                    .map(ServiceLoader.Provider::get)
                    .filter(sensors -> sensors.unavailable().isEmpty())
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("nothing tells the memory of " + device))
                    .read()
                    .get(index)
                    .memoryUsedBytes();
        }
    }

    /**
     * Exits with 1 and a sentence for each where something stays behind. Of the process's own memory, threads and descriptors, each of
     * the last three of four blocks of switches has to take more than the one before, of memory more than a mebibyte: what leaks at
     * every switch shows in every block, and what the compiler, the allocator or the scheduler of virtual threads takes at once,
     * whenever that is, in one. Memory of a device is after the last block what it was after the first.
     */
    public static void main(String[] arguments) throws IOException {
        int switches = Integer.parseInt(arguments[0]);
        String device = arguments.length > 2 ? arguments[2] : "cpu";
        long host = arguments.length > 3 ? Long.parseLong(arguments[3]) << 30 : 0;
        EngineConfig config = arguments.length > 1 ? config(arguments[1], device) : demo();
        var models = List.of(PooledModel.of("m0", config), PooledModel.of("m1", config));
        var options = new PoolOptions(models, budget(config), Duration.ofMinutes(5)).withHostMemory(host);
        var held = new ArrayList<Held>();
        long begin = System.nanoTime();
        long loads;
        try (var pool = EnginePool.open(options)) {
            held.add(Held.now(device));
            for (int block = 0; block < BLOCKS; block++) {
                for (int turn = 0; turn < switches / BLOCKS; turn++) {
                    use(pool, "m" + turn % 2);
                }
                held.add(Held.now(device));
            }
            loads = pool.models().totals().loads();
        }
        double millis = (System.nanoTime() - begin) / 1e6;
        System.out.printf(
                Locale.ROOT, "%d switches, %d loads, %.1f ms each, on %s%n", switches, loads, millis / loads, device);
        held.forEach(System.out::println);
        List<String> complaints = complaints(held);
        if (loads < switches - BLOCKS) { // a block may begin with what the one before ended with
            complaints.add("these were not switches: " + loads + " loads");
        }
        complaints.forEach(System.out::println);
        System.exit(complaints.isEmpty() ? 0 : 1);
    }

    private static EngineConfig demo() throws IOException {
        Path file = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        return EngineConfig.of(file).with(new BatchOptions(256, 4, 64, 0, 16));
    }

    private static EngineConfig config(String model, String device) {
        return EngineConfig.of(Path.of(model))
                .with(new DeviceOptions(device, 0))
                .with(new CacheOptions("auto", KV_BYTES, 16, true))
                .with(new BatchOptions(256, 4, 64, 0, 16));
    }

    /** Memory in which no two of such models have room, though each gives up what it can. */
    private static long budget(EngineConfig config) {
        EnginePlan plan = Engine.plan(config);
        long least = plan.totalBytes() - plan.kvBytes() + plan.leastCacheBytes();
        return least + least / 2;
    }

    private static List<String> complaints(List<Held> held) {
        var complaints = new ArrayList<String>();
        requireSteady(complaints, held, "bytes of the process's own", Held::anonymousBytes, MEBIBYTE);
        requireSteady(complaints, held, "threads", Held::threads, 0);
        requireSteady(complaints, held, "descriptors", Held::descriptors, 0);
        long ofDevice = held.get(BLOCKS).deviceBytes() - held.get(1).deviceBytes();
        if (ofDevice > MEBIBYTE) {
            complaints.add(ofDevice + " bytes of the device more than after the first block");
        }
        return complaints;
    }

    /** Complains where each block has more than the one before, by more than is allowed. */
    private static void requireSteady(
            List<String> complaints, List<Held> held, String what, ToLongFunction<Held> number, long allowed) {
        long least = IntStream.rangeClosed(2, BLOCKS)
                .mapToLong(block -> number.applyAsLong(held.get(block)) - number.applyAsLong(held.get(block - 1)))
                .min()
                .orElseThrow();
        if (least > allowed) {
            complaints.add("every block took " + least + " " + what + " or more");
        }
    }

    private static void use(EnginePool pool, String name) {
        try (Lease<Served> lease = pool.models().use(name, _ -> {})) {
            var request = GenerationRequest.builder()
                    .tokens(5, 6, 7, 8)
                    .maxTokens(2)
                    .ignoreEos(true)
                    .build();
            try (var generation = ((ServedModel) lease.model()).engine().submit(request)) {
                generation.text();
            }
        }
    }
}
