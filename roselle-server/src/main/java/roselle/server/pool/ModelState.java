package roselle.server.pool;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How a model stands at one moment.
 *
 * @param aliases other names that mean it
 * @param plan what it takes, as far as that is known
 * @param bytes of memory that it has
 * @param hostBytes of the machine's memory in which its weights wait since it had to leave a GPU for others; 0 where they do not
 * @param sleepLevel 1 where it has its weights alone, 2 where it has nothing, until somebody wakes it; 0 where it is awake
 * @param percent of its weights that are loaded
 * @param users requests that have it at the moment
 * @param unloadsAfter how long it stays from now on if nobody asks for it; empty where it stays until its memory is needed
 * @param failure why it could not be loaded the last time; empty where it could
 */
public record ModelState(
        String name,
        List<String> aliases,
        Phase phase,
        ModelPlan plan,
        long bytes,
        long hostBytes,
        int sleepLevel,
        int percent,
        int users,
        boolean isPinned,
        Optional<Duration> unloadsAfter,
        String failure) {
    /** Where it is between its file and its requests. */
    public enum Phase {
        UNLOADED("unloaded"),
        /** Somebody wants it, and its plan is being made. */
        PLANNING("loading"),
        /** It waits for memory. */
        WAITING("waiting"),
        LOADING("loading"),
        LOADED("loaded"),
        UNLOADING("unloading");

        private final String word;

        Phase(String word) {
            this.word = word;
        }

        /** Whether its memory is taken. */
        boolean holdsMemory() {
            return this == LOADING || this == LOADED || this == UNLOADING;
        }

        /** Whether a thread of the pool is at work on it. */
        boolean isMoving() {
            return this == PLANNING || this == LOADING || this == UNLOADING;
        }
    }

    public ModelState {
        aliases = List.copyOf(aliases);
    }

    /** A model that is always loaded. */
    public static ModelState fixed(String name, ModelPlan plan) {
        return new ModelState(
                name, List.of(), Phase.LOADED, plan, plan.bytes(), 0, 0, 100, 0, true, Optional.empty(), "");
    }

    /** A model that is always loaded, and sleeps with nothing but so many bytes. */
    public static ModelState sleeping(String name, ModelPlan plan, long bytes) {
        return new ModelState(name, List.of(), Phase.LOADED, plan, bytes, 0, 1, 100, 0, true, Optional.empty(), "");
    }

    /** The same under other names, with so much context. */
    public ModelState as(String other, List<String> names, int context) {
        var sizes = new ModelPlan(plan.bytes(), plan.leastBytes(), plan.weightBytes(), context, plan.machineBytes());
        return new ModelState(
                other,
                names,
                phase,
                sizes,
                bytes,
                hostBytes,
                sleepLevel,
                percent,
                users,
                isPinned,
                unloadsAfter,
                failure);
    }

    /** Whether it is in no memory of a device, and its weights wait in the machine's. */
    public boolean isParked() {
        return hostBytes > 0 && !phase.holdsMemory();
    }

    public boolean isLoaded() {
        return phase == Phase.LOADED;
    }

    /** Whether it is loaded and awake. */
    public boolean isReady() {
        return isLoaded() && sleepLevel == 0;
    }

    /** Whether it will be loaded, unless that fails. */
    boolean isOnItsWay() {
        return phase == Phase.PLANNING || phase == Phase.WAITING || phase == Phase.LOADING;
    }

    /** The state in one word, as operators read it. */
    public String word() {
        if (sleepLevel > 0 && (phase == Phase.LOADED || phase == Phase.UNLOADED)) {
            return "sleeping";
        }
        if (phase == Phase.UNLOADED && hostBytes > 0) {
            return "parked";
        }
        return phase == Phase.UNLOADED && !failure.isEmpty() ? "failed" : phase.word;
    }
}
