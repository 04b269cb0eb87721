package roselle.engine;

import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;
import roselle.api.DeviceException;
import roselle.api.GenerationRequest;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;

/** Asks the JVM how much native memory there is: before an engine opens, when it is ready, when it has worked, and after it. */
public final class MemoryProbe {
    /** Alignment adds up to 64 bytes to each allocation, and the JVM itself keeps a little. */
    private static final long SLACK = 64 << 10;

    /** What arenas take, among a little else, in the words of the JVM's native memory tracking. */
    private static final Pattern ARENAS = Pattern.compile("Other \\(reserved=(\\d+), committed=(\\d+)\\)");

    private MemoryProbe() {}

    /** Models; exits with 1 and a sentence where one is not as planned. */
    public static void main(String[] models) throws JMException {
        for (String model : models) {
            check(Path.of(model));
        }
        System.out.println(models.length + " models as planned");
    }

    private static void check(Path model) throws JMException {
        var config = EngineConfig.of(model)
                .with(new BatchOptions(256, 8, 64, 0, 100))
                .with(new DeviceOptions("cpu", 1))
                .with(new CacheOptions("f32", 2 << 20, 16, true));
        var options = CpuOptions.of(1).with(CpuPath.VECTOR); // what machine code reads is no arena's
        long before = arenaBytes();
        try (var engine = EngineOnDevice.open(config, new CpuDevice(options))) {
            long ready = arenaBytes();
            long planned = engine.plan().totalBytes() - engine.plan().weightBytes();
            require(Math.abs(ready - before - planned) < SLACK, model, planned, ready - before);
            work(engine);
            require(arenaBytes() <= ready, model, 0, arenaBytes() - ready);
        }
        require(arenaBytes() - before < SLACK, model, 0, arenaBytes() - before);
        failToOpen(config, options);
        require(arenaBytes() - before < SLACK, model, 0, arenaBytes() - before);
    }

    /** Opens on a device that breaks when everything is allocated. */
    private static void failToOpen(EngineConfig config, CpuOptions options) {
        var asked = new int[1];
        Device honest = new CpuDevice(options);
        var breaking = (Device) Proxy.newProxyInstance(
                Device.class.getClassLoader(), new Class<?>[] {Device.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("describe") && ++asked[0] == 2) {
                        throw new DeviceException("the device broke");
                    }
                    try {
                        return method.invoke(honest, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
        try (var engine = EngineOnDevice.open(config, breaking)) {
            throw new IllegalStateException("it opened after all, with " + engine.plan());
        } catch (DeviceException expected) {
            if (asked[0] != 2) {
                throw expected;
            }
        }
    }

    private static void work(Engine engine) {
        var generations = new ArrayList<Generation>();
        for (int i = 0; i < 40; i++) {
            generations.add(engine.submit(GenerationRequest.builder()
                    .tokens(new java.util.Random(i).ints(1 + i, 3, 300).toArray())
                    .seed(i)
                    .maxTokens(60)
                    .logprobs(5)
                    .build()));
        }
        generations.forEach(Generation::text);
    }

    private static void require(boolean isSo, Path model, long planned, long taken) {
        if (!isSo) {
            System.out.println(model + ": " + planned + " bytes were planned, " + taken + " are taken");
            System.exit(1);
        }
    }

    private static long arenaBytes() throws JMException {
        String summary = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "vmNativeMemory",
                        new Object[] {new String[] {"summary", "scale=B"}},
                        new String[] {String[].class.getName()});
        Matcher arenas = ARENAS.matcher(summary);
        if (!arenas.find()) {
            throw new IllegalStateException("the JVM tells no arenas: " + summary);
        }
        return Long.parseLong(arenas.group(2));
    }
}
