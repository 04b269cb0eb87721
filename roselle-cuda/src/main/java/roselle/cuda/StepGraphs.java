package roselle.cuda;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import roselle.backend.StepInputs;

/**
 * Steps of few rows as CUDA graphs: the first step of a shape runs as it is called, the second is recorded, and later ones are
 * replayed with one call.
 *
 * <p>That is right because the calls of a step depend on its shape alone, and what they read of the step lies where it lay.
 */
final class StepGraphs {
    /** Graphs kept at most; a shape beyond them runs as it is called. */
    private static final int MOST_GRAPHS = 512;

    private final Device device;
    private final Launcher launcher;
    private final Map<Key, Long> graphs = new HashMap<>();

    /** A step's shape, and whose operations they are. */
    private record Key(StepShape shape, Consumer<StepInputs> operations) {}

    StepGraphs(Device device, Launcher launcher) {
        this.device = device;
        this.launcher = launcher;
    }

    void run(StepShape shape, StepInputs inputs, Consumer<StepInputs> operations) {
        if (!shape.isFew() || graphs.size() >= MOST_GRAPHS) {
            operations.accept(inputs);
            return;
        }
        var key = new Key(shape, operations);
        Long graph = graphs.get(key);
        if (graph == null) {
            graphs.put(key, 0L);
            operations.accept(inputs);
            return;
        }
        if (graph == 0) {
            graph = record(inputs, operations);
            graphs.put(key, graph);
        }
        device.driver().launchGraph(graph, device.stream());
        launcher.barrier();
    }

    private long record(StepInputs inputs, Consumer<StepInputs> operations) {
        device.driver().beginCapture(device.stream());
        launcher.barrier();
        try {
            operations.accept(inputs);
        } catch (Throwable failure) {
            device.driver().abandonCapture(device.stream());
            throw failure;
        }
        return device.driver().endCapture(device.stream());
    }

    /** Drops all of them, because what they refer to moves. */
    void forget() {
        var cleanup = new Cleanup();
        for (long graph : graphs.values()) {
            if (graph != 0) {
                cleanup.then(() -> device.driver().destroyGraph(graph));
            }
        }
        graphs.clear();
        cleanup.finish();
    }
}
