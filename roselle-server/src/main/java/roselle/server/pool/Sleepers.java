package roselle.server.pool;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import roselle.backend.memory.SpareMemory;
import roselle.engine.Engine;
import roselle.engine.EnginePlan;
import roselle.server.config.Served;
import roselle.server.config.ServedModel;

/**
 * Models that had to leave a GPU for others and sleep with their weights in the machine's memory, within a budget: they come back at
 * the rate of the bus. The one that has slept longest is closed where another needs the room; thread-safe.
 */
final class Sleepers implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ModelPool.class.getName());

    private final long budget;
    private final Map<String, Sleeper> sleepers =
            new LinkedHashMap<>(); // by name, in the order in which they fell asleep
    private volatile Map<String, Sleeper> shown = Map.of(); // the same, for who must not wait
    private final SpareMemory spare = new SpareMemory();
    private long takenBytes;
    private boolean isClosed;

    private record Sleeper(ServedSource owner, ServedModel model, Path path, ModelFolder.Print print, long bytes) {}

    /** {@code budget} bytes of the machine's memory; 0 for none. */
    Sleepers(long budget) {
        this.budget = budget;
    }

    /**
     * Has a model fall asleep that nobody uses.
     *
     * @return whether it sleeps; else it is as it was
     */
    boolean take(String name, ServedSource owner, ServedModel model, Path path) {
        Engine engine = model.engine();
        EnginePlan plan = engine.plan();
        long bytes = plan.totalBytes() - plan.kvBytes();
        ModelFolder.Print print = ModelFolder.printIfThere(path);
        if (!engine.cache().sleepsWhole() || !engine.status().isAlive() || print == null || !reserve(bytes)) {
            return false;
        }
        try {
            engine.cache().sleep().join();
        } catch (CompletionException failure) {
            LOG.log(System.Logger.Level.WARNING, "event=model_not_asleep model=" + name, failure);
            giveBack(bytes);
            return false;
        }
        return enter(name, new Sleeper(owner, model, path, print, bytes));
    }

    private synchronized boolean reserve(long bytes) {
        while (!isClosed && bytes <= budget && takenBytes + bytes > budget && !sleepers.isEmpty()) {
            forget(sleepers.keySet().iterator().next());
        }
        boolean fits = !isClosed && takenBytes + bytes <= budget;
        takenBytes += fits ? bytes : 0;
        return fits;
    }

    private synchronized void giveBack(long bytes) {
        takenBytes -= bytes;
    }

    private synchronized boolean enter(String name, Sleeper sleeper) {
        if (isClosed) {
            return false;
        }
        forget(name);
        sleepers.put(name, sleeper);
        shown = Map.copyOf(sleepers);
        return true;
    }

    private void forget(String name) {
        Sleeper sleeper = sleepers.remove(name);
        if (sleeper != null) {
            shown = Map.copyOf(sleepers);
            takenBytes -= sleeper.bytes;
            sleeper.model.engine().close();
        }
    }

    /** What models that had to leave the machine's memory have left to the next one. */
    SpareMemory spare() {
        return spare;
    }

    /** The budget of all. */
    long budget() {
        return budget;
    }

    /** What all that sleep have of it. */
    long bytes() {
        return shown.values().stream().mapToLong(Sleeper::bytes).sum();
    }

    /** What a source's model has of it; 0 where it does not sleep. */
    long bytes(String name, ServedSource owner) {
        Sleeper sleeper = shown.get(name);
        return sleeper != null && sleeper.owner == owner ? sleeper.bytes : 0;
    }

    /** Whether a source's model sleeps, and its files are what they were; else it is closed. */
    synchronized boolean has(String name, ServedSource owner) {
        Sleeper sleeper = sleepers.get(name);
        if (sleeper == null) {
            return false;
        }
        boolean isSame = sleeper.owner == owner
                && sleeper.print.equals(ModelFolder.printIfThere(sleeper.path))
                && sleeper.model.engine().status().isAlive();
        if (!isSame) {
            forget(name);
        }
        return isSame;
    }

    /**
     * A model that slept and is awake, or nothing where none did, or the device has no memory for it: then it is closed.
     *
     * @param sizing says how large the cache of the engine is to be
     */
    Optional<Served> wake(String name, ServedSource owner, Consumer<Engine> sizing) {
        Sleeper sleeper;
        synchronized (this) {
            if (!has(name, owner)) {
                return Optional.empty();
            }
            sleeper = Objects.requireNonNull(sleepers.remove(name));
            shown = Map.copyOf(sleepers);
            takenBytes -= sleeper.bytes;
        }
        try {
            sizing.accept(sleeper.model.engine());
            sleeper.model.engine().cache().wake().join();
            return Optional.of(sleeper.model);
        } catch (RuntimeException failure) {
            LOG.log(System.Logger.Level.WARNING, "event=model_not_woken model=" + name, failure);
            sleeper.model.engine().close();
            return Optional.empty();
        }
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        for (String name : List.copyOf(sleepers.keySet())) {
            forget(name);
        }
        spare.drop();
    }
}
