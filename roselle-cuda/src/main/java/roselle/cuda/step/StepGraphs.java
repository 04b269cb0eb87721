package roselle.cuda.step;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Operations;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepProgram;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.Cleanup;
import roselle.cuda.memory.Gpu;

/**
 * Steps of few rows as CUDA graphs: the first step of a shape runs as it is called, the second is recorded, and later ones are
 * replayed with one call.
 *
 * <p>That is right because the calls of a step depend on its shape alone, and what they read of the step lies where it lay.
 * A server sees no end of shapes, since a short chunk of a prompt among decode steps makes one that hardly ever comes again.
 * So shapes that came once are kept apart from graphs, and of both the one that was used longest ago makes room.
 */
public final class StepGraphs {
    /** Graphs kept at most: they lie in memory of the driver's that no plan counts. */
    public static final int MAX_GRAPHS = 512;

    private static final int MAX_SEEN = 1024;

    private final Gpu device;
    private final Launcher launcher;
    private final Operations operations;
    private final Map<Key, Long> graphs = new LinkedHashMap<>(16, 0.75f, true); // by their last use
    private final Set<Key> seen = new LinkedHashSet<>(); // once

    private record Key(StepShape shape, StepProgram program) {}

    public StepGraphs(Gpu device, Launcher launcher, Operations operations) {
        this.device = device;
        this.launcher = launcher;
        this.operations = operations;
    }

    public void run(StepShape shape, StepInputs inputs, StepProgram program) {
        if (!shape.isFew()) {
            program.run(operations, inputs);
            return;
        }
        var key = new Key(shape, program);
        Long graph = graphs.get(key);
        if (graph == null && !seen.remove(key)) {
            note(key);
            program.run(operations, inputs);
            return;
        }
        if (graph == null) {
            makeRoom();
            graph = record(inputs, program);
            graphs.put(key, graph);
        }
        device.driver().launchGraph(graph, device.stream());
        launcher.barrier();
    }

    private void note(Key key) {
        if (seen.size() == MAX_SEEN) {
            seen.remove(seen.iterator().next());
        }
        seen.add(key);
    }

    /** Drops the graph that was used longest ago where there are as many as may be; one that still runs ends first. */
    private void makeRoom() {
        if (graphs.size() == MAX_GRAPHS) {
            var oldest = graphs.entrySet().iterator().next();
            graphs.remove(oldest.getKey());
            device.driver().destroyGraph(oldest.getValue());
        }
    }

    private long record(StepInputs inputs, StepProgram program) {
        device.driver().beginCapture(device.stream());
        launcher.barrier();
        try {
            program.run(operations, inputs);
        } catch (Throwable failure) {
            device.driver().abandonCapture(device.stream());
            throw failure;
        }
        return device.driver().endCapture(device.stream());
    }

    /** Drops all of them, because what they refer to moves. */
    public void forget() {
        var cleanup = new Cleanup();
        for (long graph : graphs.values()) {
            cleanup.then(() -> device.driver().destroyGraph(graph));
        }
        graphs.clear();
        seen.clear();
        cleanup.finish();
    }
}
