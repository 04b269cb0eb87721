package roselle.server.pool;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import roselle.backend.memory.SpareMemory;
import roselle.engine.ModelFacts;
import roselle.server.config.LoadNews;
import roselle.server.config.ModelRepository;
import roselle.server.config.ModelRepository.Control;
import roselle.server.config.ModelSupply;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.Served;

/** A pool of engines with the threads that it needs: one for each load and each unloading, and one that looks at the time. */
public final class EnginePool implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(EnginePool.class.getName());
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private final ModelPool<Served> pool;
    private final Sleepers sleepers;
    private final Map<String, Long> deviceMemory = new ConcurrentHashMap<>(); // by device, as it was first planned
    private final Map<String, ServedSource> sources = new ConcurrentHashMap<>(); // also of models that were there once
    private final Instant created = Instant.now();
    private final Set<String> pinned = new HashSet<>(); // whose loading has begun
    private final Optional<ModelRepository> repository;
    private final Optional<RepositoryWatch<Served>> watch;
    private final LoadNews news;
    private final Thread clock;

    private EnginePool(PoolOptions options) {
        sleepers = new Sleepers(options.hostMemory());
        pool = new ModelPool<>(
                options.models().stream().map(this::member).toList(),
                options.memory(),
                options.patience(),
                task -> Thread.ofPlatform().daemon().name("roselle-models").start(task),
                System::nanoTime);
        if (options.repository()
                .filter(from -> from.control() == Control.EXPLICIT)
                .isPresent()) {
            pool.requirePermission();
        }
        news = options.news();
        repository = options.repository();
        watch = repository.map(from -> new RepositoryWatch<>(
                () -> ModelFolder.prints(from.folder()),
                path -> member(from.reading().apply(path)),
                pool));
        watch.ifPresent(RepositoryWatch::believeAll);
        clock = Thread.ofVirtual().name("roselle-models-clock").unstarted(this::watch);
    }

    private PoolMember<Served> member(PooledModel model) {
        var source = new ServedSource(
                model.name(), model.engine(), model.memory().guarantee(), created, sleepers, deviceMemory);
        sources.put(model.name(), source);
        return new PoolMember<>(
                model.name(),
                model.aliases(),
                source,
                model.isPinned(),
                model.keepAlive(),
                model.memory().share());
    }

    /** A pool that begins to load what is pinned. */
    public static EnginePool open(PoolOptions options) {
        var opened = new EnginePool(options);
        opened.loadPinned();
        opened.clock.start();
        return opened;
    }

    /** Begins to load what is pinned and was not there before. */
    private void loadPinned() {
        for (ModelState state : pool.states()) {
            if (state.isPinned() && pinned.add(state.name())) {
                pool.permit(state.name());
                var _ = pool.ask(state.name()).thenAccept(Lease::close); // what fails says so in its state
            }
        }
    }

    private void watch() {
        try {
            long looked = System.nanoTime();
            while (true) {
                Thread.sleep(BETWEEN_LOOKS);
                pool.expire();
                dropSpare();
                if (mustLook(System.nanoTime() - looked)) {
                    look();
                    looked = System.nanoTime();
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // the pool is closed
        }
    }

    /** Nobody comes for what a model left: whoever it went for waits no more. */
    private void dropSpare() {
        SpareMemory spare = sleepers.spare();
        if (spare.bytes() > 0 && pool.states().stream().noneMatch(ModelState::isOnItsWay)) {
            spare.drop();
        }
    }

    private boolean mustLook(long passedNanos) {
        return repository
                .filter(from -> from.control() == Control.POLL)
                .filter(from -> passedNanos >= from.interval().toNanos())
                .isPresent();
    }

    /** A folder that cannot be read for once is looked at again later. */
    private void look() {
        try {
            watch.ifPresent(RepositoryWatch::look);
            loadPinned();
        } catch (RuntimeException failure) {
            LOG.log(System.Logger.Level.WARNING, "event=models_not_read", failure);
        }
    }

    /** The folder of models that may change while they are served, if there is one. */
    public Optional<Path> folder() {
        return repository.map(ModelRepository::folder);
    }

    /** Where models come from that the folder does not have. */
    public Optional<ModelSupply> supply() {
        return repository.flatMap(ModelRepository::supply);
    }

    /** The name of the model that a path in the folder is, if it is served. */
    public Optional<String> nameOf(Path path) {
        return watch.flatMap(each -> each.nameOf(path));
    }

    /**
     * Makes a model that lies elsewhere one of the folder, by links.
     *
     * @param stem how its file or folder there is called, without an ending
     * @return its path in the folder
     */
    public Path adopt(Path model, String stem) throws IOException {
        Path target = ModelFolder.link(model, folder().orElseThrow(), stem);
        refresh();
        return target;
    }

    /** Takes a model's files from the folder, where it has them. */
    public void drop(String file) throws IOException {
        ModelFolder.remove(folder().orElseThrow().resolve(file));
        refresh();
    }

    /** Reads the folder now: what somebody has just written there is complete. */
    public void refresh() {
        watch.ifPresent(RepositoryWatch::believeAll);
    }

    /** Lets requests load a model from now on, as an operator wants it; its folder is read first, where operators say when. */
    public void permit(String name) {
        if (isExplicit()) {
            watch.ifPresent(RepositoryWatch::believeAll);
            pool.permit(name);
        }
    }

    private boolean isExplicit() {
        return repository.filter(from -> from.control() == Control.EXPLICIT).isPresent();
    }

    /** What of the machine's memory may be taken by models that had to leave a GPU for others. */
    public long hostBudget() {
        return sleepers.budget();
    }

    /** What they take of it. */
    public long hostBytes() {
        return sleepers.bytes();
    }

    /** When streams that wait for their model say how far that is. */
    public LoadNews news() {
        return news;
    }

    public ModelPool<Served> models() {
        return pool;
    }

    /** What a model's files say of it, loaded or not. */
    public Optional<ModelFacts> facts(String name) {
        return Optional.ofNullable(sources.get(name)).flatMap(ServedSource::facts);
    }

    /** Since when its models can be asked. */
    public Instant created() {
        return created;
    }

    /** Why the first requests would wait, if so: a model that is pinned is still on its way. */
    public Optional<String> complaint() {
        return pool.states().stream()
                .filter(state -> state.isPinned() && state.isOnItsWay())
                .map(state -> "the model " + state.name() + " is being loaded, " + state.percent() + " % of it so far")
                .findFirst();
    }

    @Override
    public void close() {
        clock.interrupt();
        pool.close();
        sleepers.close();
    }
}
