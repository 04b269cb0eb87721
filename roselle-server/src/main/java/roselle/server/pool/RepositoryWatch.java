package roselle.server.pool;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import roselle.api.CheckpointException;
import roselle.server.pool.ModelFolder.Print;

/**
 * Brings the models of a folder into a pool, and keeps the pool with the folder: what is new comes, what has changed takes the place
 * of what was, what is gone goes.
 *
 * <p>Files that change are being written: a model is believed when two looks have seen the same. Until then a new one is not there.
 * Of one that changes, requests have the old one where a new file takes its place, for that stays whole; where the file itself is
 * written to, what is loaded of it is torn, so it goes, and requests are told why. No model's files harm another's.
 *
 * @param <E> what a loaded model is
 */
final class RepositoryWatch<E> {
    private static final System.Logger LOG = System.getLogger(ModelPool.class.getName());
    private static final String UNFINISHED = "its files are being written: it is there when they are complete";

    private final Supplier<Map<Path, Print>> folder;
    private final Function<Path, PoolMember<E>> reading;
    private final ModelPool<E> pool;
    private final Map<Path, Print> seen = new HashMap<>();
    private final Map<Path, Print> known = new HashMap<>();
    private final Map<Path, String> names = new HashMap<>();
    private final Set<Path> torn = new HashSet<>();

    RepositoryWatch(Supplier<Map<Path, Print>> folder, Function<Path, PoolMember<E>> reading, ModelPool<E> pool) {
        this.folder = folder;
        this.reading = reading;
        this.pool = pool;
    }

    /** Looks at the folder; what it has seen twice the same is believed. */
    synchronized void look() {
        Map<Path, Print> now = folder.get();
        Set.copyOf(names.keySet()).stream()
                .filter(path -> !now.containsKey(path))
                .forEach(this::remove);
        now.forEach((path, print) -> {
            if (!print.equals(known.get(path))) {
                if (print.equals(seen.get(path))) {
                    believe(path, print);
                } else {
                    doubt(path, print);
                }
            }
        });
        seen.clear();
        seen.putAll(now);
    }

    /** Believes what there is at this moment: somebody says that it is complete. */
    synchronized void believeAll() {
        look();
        look();
    }

    synchronized Optional<String> nameOf(Path path) {
        return Optional.ofNullable(names.get(path));
    }

    private void believe(Path path, Print print) {
        known.put(path, print);
        torn.remove(path);
        PoolMember<E> member = reading.apply(path);
        String other = names.entrySet().stream()
                .filter(entry -> entry.getValue().equals(member.name())
                        && !entry.getKey().equals(path))
                .map(entry -> entry.getKey().getFileName().toString())
                .findFirst()
                .orElse("");
        boolean isTaken = !names.containsKey(path) && pool.find(member.name()).isPresent();
        if (!other.isEmpty() || isTaken) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "event=model_not_served file={0} reason=\"another model has its name\"",
                    path.getFileName());
            return;
        }
        LOG.log(
                System.Logger.Level.INFO,
                names.containsKey(path) ? "event=model_changed model={0}" : "event=model_found model={0}",
                member.name());
        names.put(path, member.name());
        pool.put(member);
    }

    private void doubt(Path path, Print print) {
        Print before = known.get(path);
        boolean isSameFile = before != null && before.identity().equals(print.identity());
        if (isSameFile && names.containsKey(path) && torn.add(path)) {
            PoolMember<E> member = reading.apply(path);
            LOG.log(System.Logger.Level.WARNING, "event=model_being_written model={0}", member.name());
            pool.put(new PoolMember<>(
                    member.name(),
                    member.aliases(),
                    new UnfinishedSource<>(),
                    member.isPinned(),
                    member.keepAlive(),
                    member.share()));
        }
    }

    private void remove(Path path) {
        known.remove(path);
        torn.remove(path);
        String name = names.remove(path);
        if (name != null) {
            LOG.log(System.Logger.Level.INFO, "event=model_gone model={0}", name);
            pool.remove(name);
        }
    }

    /** A model whose files nobody should read yet. */
    private static final class UnfinishedSource<E> implements ModelSource<E> {
        @Override
        public ModelPlan plan() {
            throw new CheckpointException(UNFINISHED);
        }

        @Override
        public E open(Progress progress) {
            throw new CheckpointException(UNFINISHED);
        }

        @Override
        public boolean isSound(E model) {
            return false;
        }

        @Override
        public void close(E model) {}
    }
}
