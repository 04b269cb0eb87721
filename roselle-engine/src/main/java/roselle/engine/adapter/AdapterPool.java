package roselle.engine.adapter;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.LoadedAdapter;
import roselle.backend.Device;
import roselle.backend.memory.Adapter;
import roselle.checkpoint.Checkpoint;
import roselle.model.adapter.AdapterFiles;
import roselle.model.weights.AdaptableWeights;

/**
 * The adapters of a model, by name; thread-safe.
 *
 * <p>Any number may be known; the matrices of those that fit the memory are there, and those of the others are read again when a
 * request names them, on its thread, before it is admitted. The one whose use lies farthest back goes first, and none that a request
 * holds. An adapter is what its files were when it was loaded: where they are others by then, it is not read again under its name.
 */
public final class AdapterPool {
    private static final int LONGEST_NAME = 256;

    private final Checkpoint model;
    private final AdaptableWeights weights;
    private final Device device;
    private final long memory;
    private final SequencedMap<String, Entry> entries = new LinkedHashMap<>(16, 0.75f, true); // by use
    private final Set<AdapterUse> uses = ConcurrentHashMap.newKeySet();
    private long resident;

    /** An adapter that is known, with its matrices where they are in memory. */
    static final class Entry {
        private final LoadedAdapter loaded;
        private @Nullable Adapter adapter;
        private final AtomicInteger holders = new AtomicInteger();

        Entry(LoadedAdapter loaded) {
            this.loaded = loaded;
        }

        LoadedAdapter loaded() {
            return loaded;
        }
    }

    /** No adapter yet; their matrices may take so many bytes together. */
    public AdapterPool(Checkpoint model, AdaptableWeights weights, Device device, long memory) {
        this.model = model;
        this.weights = weights;
        this.device = device;
        this.memory = memory;
    }

    /**
     * Reads an adapter and knows it by a name from now on.
     *
     * @throws InvalidRequestException if the name is another adapter's
     * @throws CheckpointException if it cannot be read, or is not of this model
     * @throws CapacityException if there is no room for it
     */
    public synchronized LoadedAdapter load(String name, Path path) {
        requireName(name);
        try (var files = AdapterFiles.open(path)) {
            String digest = files.digest();
            Entry known = entries.get(name);
            if (known != null) {
                requireSame(known, digest);
                return known.loaded;
            }
            makeRoom(files.bytes(), name);
            Adapter adapter = files.allocate(model, weights, device);
            requireUnchanged(files, digest);
            makeRoom(adapter.bytes(), name); // devices pad
            var loaded = new LoadedAdapter(name, path, digest, files.rank(), adapter.bytes(), Instant.now());
            keep(new Entry(loaded), adapter);
            return loaded;
        }
    }

    private static void requireName(String name) {
        if (name.isBlank() || name.length() > LONGEST_NAME || name.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE,
                    "lora_name",
                    "an adapter's name must have 1 to " + LONGEST_NAME + " characters");
        }
    }

    private static void requireSame(Entry known, String digest) {
        if (!known.loaded.digest().equals(digest)) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE,
                    "lora_name",
                    "the name " + known.loaded.name() + " is that of another adapter: unload it first");
        }
    }

    private static void requireUnchanged(AdapterFiles files, String digest) {
        if (!files.digest().equals(digest)) {
            throw new CheckpointException(files.source() + " changed while it was being read");
        }
    }

    private void keep(Entry entry, Adapter adapter) {
        entry.adapter = adapter;
        resident += entry.loaded.bytes();
        entries.put(entry.loaded.name(), entry);
    }

    /** Gives up what was used longest ago until so many bytes fit. */
    private void makeRoom(long bytes, String name) {
        Iterator<Entry> oldest = entries.values().iterator();
        while (resident + bytes > memory && oldest.hasNext()) {
            Entry entry = oldest.next();
            if (entry.adapter != null && entry.holders.get() == 0) {
                entry.adapter = null;
                resident -= entry.loaded.bytes();
            }
        }
        if (resident + bytes > memory) {
            throw new CapacityException("the adapter " + name + " takes " + bytes + " bytes, but of the " + memory
                    + " that adapters may take, requests hold " + resident
                    + ": try again when some have ended, or start with more --lora-memory");
        }
    }

    /**
     * Forgets an adapter; requests that hold it go on.
     *
     * @throws InvalidRequestException if there is none of the name
     */
    public synchronized void unload(String name) {
        Entry entry = entries.remove(name);
        if (entry == null) {
            throw unknown(name);
        }
        if (entry.adapter != null) {
            resident -= entry.loaded.bytes();
        }
    }

    /**
     * Holds an adapter for a request; its matrices are read again where they were given up.
     *
     * @throws InvalidRequestException if there is none of the name, or its files are not what they were
     * @throws CapacityException if there is no room for it
     */
    public synchronized AdapterUse use(String name) {
        Entry entry = entries.get(name);
        if (entry == null) {
            throw unknown(name);
        }
        Adapter adapter = entry.adapter;
        if (adapter == null) {
            try {
                adapter = readAgain(entry.loaded);
            } catch (CheckpointException changed) {
                throw new InvalidRequestException(Reason.UNSUPPORTED, "adapter", String.valueOf(changed.getMessage()));
            }
            keep(entry, adapter);
        }
        entry.holders.incrementAndGet();
        var use = new AdapterUse(this, entry, adapter);
        uses.add(use);
        return use;
    }

    private Adapter readAgain(LoadedAdapter known) {
        try (var files = AdapterFiles.open(known.path())) {
            makeRoom(known.bytes(), known.name());
            Adapter adapter = files.allocate(model, weights, device);
            if (!files.digest().equals(known.digest())) {
                throw new CheckpointException("the files of the adapter " + known.name()
                        + " are not what they were when it was loaded: unload it, and load it again");
            }
            return adapter;
        }
    }

    /** Without the lock: the engine's thread must not wait for who reads a file. */
    void end(AdapterUse use, Entry entry) {
        if (uses.remove(use)) {
            entry.holders.decrementAndGet();
        }
    }

    private static InvalidRequestException unknown(String name) {
        return new InvalidRequestException(
                Reason.OUT_OF_RANGE, "lora_name", "there is no adapter " + name + ": load it first");
    }

    /** The adapters that requests may name, in the order of their names. */
    public synchronized List<LoadedAdapter> all() {
        var all = new ArrayList<LoadedAdapter>();
        for (Entry entry : entries.values()) { // a look at them is no use
            all.add(entry.loaded);
        }
        all.sort(Comparator.comparing(LoadedAdapter::name));
        return List.copyOf(all);
    }

    /** Names of adapters whose requests have a token already, or, on the contrary, have none yet. */
    public Set<String> inUse(boolean begun) {
        var names = new TreeSet<String>();
        for (AdapterUse use : uses) {
            if (use.hasBegun() == begun) {
                names.add(use.name());
            }
        }
        return names;
    }
}
