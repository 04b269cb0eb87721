package roselle.engine;

import org.jspecify.annotations.Nullable;
import roselle.backend.Device;
import roselle.backend.ModelWeights;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.MappingFault;
import roselle.checkpoint.path.Checkpoints;
import roselle.execution.Executor;
import roselle.execution.QueuedDevice;
import roselle.model.Decoder;
import roselle.model.architecture.Architectures;
import roselle.model.weights.Blueprint;

/**
 * Puts one engine together: checkpoint, device, plan, weights, loop. Where a part fails, those before it are closed.
 *
 * <p>The device and the loop are made by methods of their own, which a subclass may answer otherwise.
 */
class EngineAssembly {
    private static final System.Logger LOG = System.getLogger(Engine.class.getName());

    private final EngineConfig config;
    private final StartObserver observer;
    private final StartClock clock = new StartClock();
    private @Nullable TextReading reading;

    EngineAssembly(EngineConfig config, StartObserver observer) {
        this.config = config;
        this.observer = observer;
    }

    final EngineConfig config() {
        return config;
    }

    /** Opens the model and a device for it, and loads the one onto the other. */
    final Engine open() {
        Checkpoint checkpoint = Checkpoints.open(config.model());
        Device device;
        try {
            reading(checkpoint);
            device = device(checkpoint);
        } catch (Throwable failure) {
            endReading();
            checkpoint.close();
            throw failure;
        }
        clock.lap("device");
        return load(checkpoint, device);
    }

    /** What of the model is text, which is read from now on at the latest. */
    final TextReading reading(Checkpoint checkpoint) {
        if (reading == null) {
            reading = TextReading.begin(checkpoint, config.toolParser());
        }
        return reading;
    }

    private void endReading() {
        if (reading != null) {
            reading.close();
        }
    }

    /** Loads a checkpoint onto a device; the engine owns both from here on, and they are closed where it cannot be opened. */
    final Engine load(Checkpoint checkpoint, Device given) {
        given.shareSpare(observer.spareMemory());
        reading(checkpoint);
        boolean queues = !given.samples() && config.overlap().isOn(false);
        Device device = queues ? new QueuedDevice(given) : given;
        Blueprint blueprint;
        EngineSizes sizes;
        Executor executor;
        try {
            blueprint = Architectures.read(checkpoint);
            clock.lap("model");
            sizes = EngineSizes.of(config, checkpoint, blueprint, device, MachineMemory.bytes());
            tellPlan(device, sizes);
            executor = executor(checkpoint, blueprint, device, sizes);
        } catch (Throwable failure) {
            device.close();
            closeAfter(checkpoint, failure);
            throw failure;
        }
        try {
            return new Engine(this, checkpoint, blueprint, sizes, executor);
        } catch (Throwable failure) {
            executor.close();
            closeAfter(checkpoint, failure);
            throw failure;
        }
    }

    private void tellPlan(Device device, EngineSizes sizes) {
        LOG.log(System.Logger.Level.INFO, "event=device device=\"{0}\"", device.describe());
        LOG.log(
                System.Logger.Level.INFO,
                "event=plan model={0} context={1} kv_bytes={2} total_bytes={3}",
                config.model(),
                Integer.toString(sizes.limits().maxContext()),
                Long.toString(sizes.kvBytes()),
                Long.toString(sizes.totalBytes()));
        observer.planned(sizes.plan());
        clock.lap("plan");
    }

    private Executor executor(Checkpoint checkpoint, Blueprint blueprint, Device device, EngineSizes sizes) {
        var loading = new LoadingCount(checkpoint, observer);
        var decoder = Decoder.open(checkpoint, blueprint, device, sizes.limits(), sizes.kv(), loading);
        try {
            loading.end();
            checkpoint.checkFiles();
            var executor = Executor.open(device, decoder, sizes.limits());
            clock.lap("memory", "weights", decoder.loadingNanos());
            return executor;
        } catch (Throwable failure) {
            decoder.close();
            throw failure;
        }
    }

    /** Closes it, and throws a sentence of its own where the failure came from reading the mapped files. */
    private void closeAfter(Checkpoint checkpoint, Throwable failure) {
        endReading();
        try (checkpoint) {
            if (MappingFault.isCauseOf(failure)) {
                throw MappingFault.explain(checkpoint, failure);
            }
        }
    }

    /** The device that the model is loaded onto. */
    Device device(Checkpoint checkpoint) {
        return Devices.open(
                config.device(), ModelWeights.of(checkpoint.tensors().values()));
    }

    /** The loop, which has not begun. */
    EngineLoop loop(Checkpoint checkpoint, LoopParts parts) {
        boolean overlaps = config.overlap().isOn(parts.executor().samples());
        return new EngineLoop(parts, overlaps, failure -> diagnosis(checkpoint, failure));
    }

    static String diagnosis(Checkpoint checkpoint, Throwable failure) {
        return MappingFault.isCauseOf(failure)
                ? String.valueOf(MappingFault.explain(checkpoint, failure).getMessage())
                : failure.toString();
    }

    /** What keys and values take at first. */
    final long firstCacheBytes(EngineSizes sizes) {
        return observer.firstCacheBytes(sizes.plan());
    }

    /** The engine is ready; returns where the time of its start went. */
    final StartTimeline finish(Executor executor) {
        clock.lap("engine");
        StartTimeline timeline = clock.timeline(executor.phases());
        LOG.log(System.Logger.Level.INFO, "event=ready {0}", StartTimeline.list(timeline.phases()));
        return timeline;
    }
}
