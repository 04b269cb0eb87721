package roselle.server.pool;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.CheckpointException;
import roselle.backend.memory.SpareMemory;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingPlan;
import roselle.embedding.Encoders;
import roselle.engine.Engine;
import roselle.engine.EngineCache;
import roselle.engine.EngineConfig;
import roselle.engine.EnginePlan;
import roselle.engine.EngineStatus;
import roselle.engine.ModelFacts;
import roselle.engine.StartObserver;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;

/** Opens engines of one configuration: of the kind that the model's files are of when it is planned. */
final class ServedSource implements ModelSource<Served> {
    private final String name;
    private final EngineConfig config;
    private final Instant created;
    private final long guarantee;
    private final Sleepers sleepers;
    private final SpareMemory spare;
    private final Map<String, Long> deviceMemory;
    private volatile ModelPlan promised = ModelPlan.UNKNOWN;
    private volatile ModelFolder.@Nullable Print planned; // the files that the promise was made of
    private volatile boolean isEncoder;
    private volatile Optional<ModelFacts> facts = Optional.empty();
    private volatile ModelFolder.@Nullable Print told; // the files that the facts are of

    /**
     * A model under a name, with bytes for keys and values that it always has, which can be asked since a time.
     *
     * @param deviceMemory what all models of a device share, as the first plan found it: later ones are made while others have it
     */
    ServedSource(
            String name,
            EngineConfig config,
            long guarantee,
            Instant created,
            Sleepers sleepers,
            Map<String, Long> deviceMemory) {
        this.sleepers = sleepers;
        spare = sleepers.spare();
        this.deviceMemory = deviceMemory;
        this.name = name;
        this.config = config;
        this.guarantee = guarantee;
        this.created = created;
    }

    @Override
    public ModelPlan plan() {
        if (sleepers.has(name, this)) {
            return promised;
        }
        ModelFolder.Print found = ModelFolder.printIfThere(config.model());
        if (found != null && found.equals(planned)) {
            return promised; // of the same files, for the same memory
        }
        try {
            isEncoder = Encoders.isOne(config.model());
            ModelPlan plan = isEncoder ? encoderPlan() : enginePlan();
            promised = plan;
            planned = found;
            return plan;
        } catch (RuntimeException failure) {
            throw told(failure);
        }
    }

    /** What its files say of it; nothing where they cannot be read. */
    Optional<ModelFacts> facts() {
        ModelFolder.Print found = ModelFolder.printIfThere(config.model());
        if (found == null || !found.equals(told)) {
            facts = read();
            told = found;
        }
        return facts;
    }

    private Optional<ModelFacts> read() {
        try {
            return Optional.of(ModelFacts.of(config.model()));
        } catch (CheckpointException unreadable) {
            return Optional.empty(); // as its load will say
        }
    }

    private ModelPlan enginePlan() {
        EnginePlan plan = Engine.plan(sharing());
        deviceMemory.putIfAbsent(device(), plan.machineBytes());
        long cache = Math.clamp(Math.max(guarantee, plan.leastCacheBytes()), 0, plan.kvBytes());
        long least = plan.totalBytes() - plan.kvBytes() + cache;
        return new ModelPlan(
                plan.totalBytes(),
                plan.movesPages() ? least : plan.totalBytes(),
                plan.weightBytes(),
                plan.context(),
                plan.machineBytes());
    }

    private String device() {
        return config.device().name();
    }

    private EngineConfig sharing() {
        return config.withDeviceMemory(deviceMemory.getOrDefault(device(), config.deviceMemory()));
    }

    private ModelPlan encoderPlan() {
        EmbeddingPlan plan = EmbeddingEngine.plan(EmbeddingConfig.of(sharing()));
        deviceMemory.putIfAbsent(device(), plan.machineBytes());
        return ModelPlan.fixed(plan.totalBytes(), plan.weightBytes(), plan.context(), plan.machineBytes());
    }

    @Override
    public Served open(Progress progress) {
        return open(promised.bytes(), progress);
    }

    @Override
    public Served open(long bytes, Progress progress) {
        Optional<Served> woken = sleepers.wake(name, this, engine -> {
            var _ = engine.cache().resize(bytes - otherBytes(engine));
        });
        try {
            return woken.orElseGet(() -> opened(bytes, progress));
        } catch (RuntimeException failure) {
            throw told(failure);
        } finally {
            spare.drop(); // what others had left that it has not taken
        }
    }

    private Served opened(long bytes, Progress progress) {
        return isEncoder
                ? new ServedEncoder(name, openEncoder(progress), created)
                : new ServedModel(name, openEngine(bytes, progress), created);
    }

    private Engine openEngine(long bytes, Progress progress) {
        return Engine.open(sharing(), new StartObserver() {
            @Override
            public void planned(EnginePlan plan) {
                requirePromised(plan.totalBytes());
            }

            @Override
            public long firstCacheBytes(EnginePlan plan) {
                return Math.max(0, bytes - plan.totalBytes() + plan.kvBytes());
            }

            @Override
            public SpareMemory spareMemory() {
                return spare;
            }

            @Override
            public void loaded(long bytes, long totalBytes) {
                progress.loaded(bytes, totalBytes);
            }
        });
    }

    private EmbeddingEngine openEncoder(Progress progress) {
        return EmbeddingEngine.open(EmbeddingConfig.of(sharing()), new EmbeddingPlan.Observer() {
            @Override
            public void planned(EmbeddingPlan plan) {
                requirePromised(plan.totalBytes());
            }

            @Override
            public void loaded(long bytes, long totalBytes) {
                progress.loaded(bytes, totalBytes);
            }
        });
    }

    /** Before anything is allocated: the file may be another one by now. */
    private void requirePromised(long bytes) {
        if (bytes > promised.bytes()) {
            throw new CapacityException("it needs more memory than a moment ago: its files have changed");
        }
    }

    /** The failure as those may read it who are not to know where files lie. */
    private RuntimeException told(RuntimeException failure) {
        String message = String.valueOf(failure.getMessage());
        Path path = config.model().toAbsolutePath();
        String shown = message.replace(path.toString(), name);
        if (config.model().getNameCount() > 1) { // a single word may be one of the sentence's
            shown = shown.replace(config.model().toString(), name);
        }
        return shown.equals(message) ? failure : new ModelLoadException(shown, failure);
    }

    @Override
    public boolean isSound(Served model) {
        return switch (model) {
            case ServedModel generating -> generating.engine().status().isAlive();
            case ServedEncoder encoder -> encoder.engine().status().isAlive();
        };
    }

    @Override
    public void close(Served model) {
        switch (model) {
            case ServedModel generating -> generating.engine().close();
            case ServedEncoder encoder -> encoder.engine().close();
        }
    }

    /**
     * Weights of a GPU go to the machine's memory, where there is room for them. Where the machine's is that of the device, the memory
     * itself waits for the model that comes: it would take the system long to give it anew.
     */
    @Override
    public void makeRoom(Served model) {
        if (!(model instanceof ServedModel generating) || !sleepers.take(name, this, generating, config.model())) {
            spare.keepFrom(() -> close(model));
        }
    }

    @Override
    public long hostBytes() {
        return sleepers.bytes(name, this);
    }

    @Override
    public CompletableFuture<Void> resize(Served model, long bytes) {
        return switch (model) {
            case ServedModel generating
            when sleeps(model) -> generating.engine().cache().resize(bytes - otherBytes(generating.engine()));
            case ServedModel _, ServedEncoder _ -> CompletableFuture.completedFuture(null);
        };
    }

    /** What an engine takes beside its keys and values. */
    private static long otherBytes(Engine engine) {
        EnginePlan plan = engine.plan();
        return plan.totalBytes() - plan.kvBytes();
    }

    /** All that it can have where answers wait for pages, else what those that are being made have, and a quarter. */
    @Override
    public long wants(Served model) {
        if (!(model instanceof ServedModel generating)) {
            return 0;
        }
        Engine engine = generating.engine();
        EngineStatus status = engine.status();
        boolean isShort = status.preempted() > 0
                || (status.waiting() > 0 && status.running() < engine.plan().maxSequences());
        long used = status.totalPages() == 0 ? 0 : status.cacheBytes() / status.totalPages() * status.usedPages();
        return isShort ? engine.plan().totalBytes() : otherBytes(engine) + used + used / 4;
    }

    @Override
    public boolean sleeps(Served model) {
        return model instanceof ServedModel generating
                && generating.engine().cache().resizes();
    }

    @Override
    public CompletableFuture<Void> sleep(Served model) {
        return cache(model).sleep();
    }

    @Override
    public CompletableFuture<Void> wake(Served model) {
        return cache(model).wake();
    }

    private static EngineCache cache(Served model) {
        return switch (model) {
            case ServedModel generating -> generating.engine().cache();
            case ServedEncoder encoder -> throw new IllegalStateException(encoder.name() + " has no cache");
        };
    }
}
