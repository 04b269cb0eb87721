package roselle.hub;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import roselle.checkpoint.huggingface.SafetensorsIndex;
import roselle.hub.cache.HubCache;
import roselle.hub.cache.PartFile;
import roselle.hub.file.FileChoice;
import roselle.hub.file.Listing;
import roselle.hub.file.RepositoryFile;
import roselle.hub.http.HubApi;
import roselle.hub.http.HubClock;
import roselle.hub.http.Inquiry;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubException;
import roselle.hub.request.HubName;
import roselle.hub.request.PullObserver;
import roselle.hub.text.NetworkText;

/**
 * The hub and the cache together: finds models by name, and fetches what is missing.
 *
 * <p>Pulling writes in an order by which whoever finds something finds all of it: a blob appears whole and checked, weights
 * after the files beside them, and the revision points to a commit when all its files are there.
 */
public final class Hub implements AutoCloseable {
    /** Files that are made at a time; connections are counted apart. */
    private static final int FILES_AT_A_TIME = 4;

    private final HubConfig config;
    private final HubApi api;

    public Hub(HubConfig config) {
        this(config, HubClock.SYSTEM);
    }

    Hub(HubConfig config, HubClock clock) {
        this.config = config;
        this.api = new HubApi(config, clock);
    }

    /** Where a model lies if all its files are in the cache, without asking the hub. */
    public static Optional<Path> cached(Path root, HubName name) {
        var cache = new HubCache(root, name.repository());
        return cache.commit(name.revision()).flatMap(commit -> cachedAt(cache, name, commit));
    }

    private static Optional<Path> cachedAt(HubCache cache, HubName name, String commit) {
        try {
            List<String> files = cache.files(commit);
            if (files.isEmpty()) {
                return Optional.empty();
            }
            FileChoice choice = FileChoice.of(name, files);
            Path snapshot = cache.snapshot(commit);
            boolean isWhole = choice.index()
                    .map(index -> files.containsAll(shards(snapshot.resolve(index))))
                    .orElse(true);
            return isWhole ? Optional.of(choice.opened().map(snapshot::resolve).orElse(snapshot)) : Optional.empty();
        } catch (HubException notThere) {
            return Optional.empty();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Set<String> shards(Path index) {
        Set<String> shards = new LinkedHashSet<>();
        SafetensorsIndex.read(index).fileNames().forEach(shards::add);
        return shards;
    }

    // ---- planning ----

    /** Asks the hub what a model has; an index of shards is fetched for this. */
    public PullPlan plan(HubName name) {
        return plan(name, PullObserver.SILENT);
    }

    /** The same; the observer hears that the hub is asked, and of each pause before it is asked again. */
    public PullPlan plan(HubName name, PullObserver observer) {
        try {
            Inquiry inquiry = api.inquiry(name, observer);
            String commit = api.commit(name, inquiry);
            Listing listing = api.listing(
                    name.repository(), commit, path -> FileChoice.isCandidate(path, name.selector()), inquiry);
            FileChoice choice = FileChoice.of(name, listing.files().keySet());
            var paths = new LinkedHashSet<>(choice.files());
            if (choice.index().isPresent()) {
                paths.addAll(shardsOf(listing, choice.index().get(), observer));
            }
            return plan(name, listing, paths, choice);
        } catch (IOException failure) {
            throw disk(failure);
        }
    }

    private PullPlan plan(HubName name, Listing listing, Set<String> paths, FileChoice choice) {
        var cache = new HubCache(config.cache(), name.repository());
        var files = new ArrayList<PullPlan.File>();
        var missing = new ArrayList<PullPlan.File>();
        for (String path : paths) {
            RepositoryFile file = listing.file(path);
            files.add(new PullPlan.File(path, file.size()));
            if (!cache.has(file)) {
                missing.add(files.getLast());
            }
        }
        var source = new PullPlan.Source(listing, choice.opened().orElse(""));
        return new PullPlan(name, listing.commit(), files, missing, source);
    }

    /** The names in an index, which it is fetched for. */
    private Set<String> shardsOf(Listing listing, String index, PullObserver observer) throws IOException {
        var cache = new HubCache(config.cache(), listing.repository());
        cache.prepare();
        download(cache, listing, List.of(index), observer);
        return shards(cache.snapshot(listing.commit()).resolve(index));
    }

    // ---- pulling ----

    /** Fetches what a plan found missing; the path to open as the model. */
    public Path pull(PullPlan plan, PullObserver observer) {
        var cache = new HubCache(config.cache(), plan.name().repository());
        Listing listing = plan.source().listing();
        try {
            cache.prepare();
            requireSpace(cache, plan);
            List<String> paths = plan.files().stream().map(PullPlan.File::path).toList();
            download(
                    cache,
                    listing,
                    paths.stream().filter(path -> !FileChoice.isWeights(path)).toList(),
                    observer);
            download(
                    cache, listing, paths.stream().filter(FileChoice::isWeights).toList(), observer);
            cache.writeRef(plan.name().revision(), plan.commit());
        } catch (IOException failure) {
            throw disk(failure);
        }
        return cache.snapshot(plan.commit()).resolve(plan.source().opened());
    }

    private void requireSpace(HubCache cache, PullPlan plan) throws IOException {
        long needed = plan.missingBytes();
        for (PullPlan.File file : plan.missing()) {
            RepositoryFile listed = plan.source().listing().file(file.path());
            Path part = PartFile.of(cache.blob(listed.checksum()));
            needed -= Files.exists(part)
                    ? PartFile.presentIn(part, listed.size(), config.transfer().pieceBytes())
                    : 0;
        }
        long free = Files.getFileStore(cache.folder()).getUsableSpace();
        if (needed > free) {
            throw new HubException(
                    HubException.Kind.DISK,
                    plan.name() + " needs " + needed + " bytes, and " + config.cache() + " has " + free
                            + " left: free some, or set HF_HOME to another disk");
        }
    }

    private void download(HubCache cache, Listing listing, List<String> paths, PullObserver observer)
            throws IOException {
        var places = new Semaphore(FILES_AT_A_TIME);
        try (var transfers = new Transfers(config.transfer(), observer, api::abort)) {
            transfers.all(paths.stream().map(path -> () -> {
                places.acquireUninterruptibly();
                try {
                    transfers.requireGoing();
                    new FileDownload(api, cache, listing, listing.file(path), transfers).run();
                } finally {
                    places.release();
                }
            }));
        }
    }

    private HubException disk(IOException failure) {
        return new HubException(
                HubException.Kind.DISK,
                config.cache() + " cannot be written: " + NetworkText.words(failure)
                        + "; what was fetched is kept, run the same again when that is mended",
                failure);
    }

    @Override
    public void close() {
        api.close();
    }
}
