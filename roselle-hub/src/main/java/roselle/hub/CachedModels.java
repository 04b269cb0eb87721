package roselle.hub;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import roselle.hub.cache.BlobLock;
import roselle.hub.cache.HubCache;
import roselle.hub.file.Checksum;
import roselle.hub.file.FileChoice;
import roselle.hub.request.HubException;
import roselle.hub.request.HubException.Kind;
import roselle.hub.request.HubName;
import roselle.hub.text.NetworkText;

/** The models in the cache: lists them, and removes them without touching what others of them share. */
public final class CachedModels {
    private final Path root;

    public CachedModels(Path root) {
        this.root = root;
    }

    /** Every commit of every model, by name. */
    public List<CachedRevision> all() {
        var revisions = new ArrayList<CachedRevision>();
        for (Path folder : entries(root)) {
            String name = folder.getFileName().toString();
            if (name.startsWith(HubCache.MODELS) && Files.isDirectory(folder)) {
                String repository = name.substring(HubCache.MODELS.length()).replace("--", "/");
                revisions.addAll(of(new HubCache(root, repository)));
            }
        }
        return revisions;
    }

    /** The commit that a name means; a {@link HubException} where the cache has it not. */
    public CachedRevision find(HubName name) {
        var cache = new HubCache(root, name.repository());
        return cache.commit(name.revision())
                .flatMap(commit -> of(cache).stream()
                        .filter(each -> each.commit().equals(commit))
                        .findFirst())
                .orElseThrow(() -> absent(name));
    }

    private HubException absent(HubName name) {
        return new HubException(Kind.NOT_FOUND, name + " is not in the cache at " + root + ": see roselle list");
    }

    private static List<CachedRevision> of(HubCache cache) {
        var revisions = new ArrayList<CachedRevision>();
        for (Path snapshot : entries(cache.snapshots())) {
            String commit = snapshot.getFileName().toString();
            if (Checksum.isGitName(commit)) {
                revisions.add(revision(cache, commit));
            }
        }
        return revisions;
    }

    private static CachedRevision revision(HubCache cache, String commit) {
        try {
            var files = new ArrayList<CachedRevision.File>();
            Instant newest = Instant.EPOCH;
            for (String path : cache.files(commit)) {
                Path file = cache.snapshot(commit).resolve(path);
                files.add(new CachedRevision.File(path, Files.size(file), blobOf(file)));
                Instant modified = Files.getLastModifiedTime(file).toInstant();
                newest = modified.isAfter(newest) ? modified : newest;
            }
            return new CachedRevision(
                    cache.repository(), commit, refsTo(cache, commit), cache.snapshot(commit), files, newest);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** The first hop alone: a blob may be a link into a store that huggingface_hub shares between repositories. */
    private static Path blobOf(Path file) throws IOException {
        return Files.isSymbolicLink(file)
                ? file.resolveSibling(Files.readSymbolicLink(file)).normalize()
                : file;
    }

    private static List<String> refsTo(HubCache cache, String commit) throws IOException {
        if (!Files.isDirectory(cache.refs())) {
            return List.of();
        }
        try (Stream<Path> refs = Files.walk(cache.refs(), 8)) {
            return refs.filter(Files::isRegularFile)
                    .map(ref -> cache.refs().relativize(ref).toString().replace('\\', '/'))
                    .filter(name -> cache.commit(name).filter(commit::equals).isPresent())
                    .sorted()
                    .toList();
        }
    }

    // ---- removing ----

    /**
     * Removes what a name means: a repository's commit, or with a selector these files of it. Blobs that other commits use
     * stay, and so does what huggingface_hub keeps in a store for several repositories.
     *
     * @return bytes that are free now
     */
    public long remove(HubName name) {
        CachedRevision revision = find(name);
        var cache = new HubCache(root, name.repository());
        List<CachedRevision.File> files = selected(name, revision);
        boolean isAll = files.size() == revision.files().size();
        try {
            requireIdle(cache, name);
            for (CachedRevision.File file : files) {
                Files.deleteIfExists(revision.snapshot().resolve(file.path()));
            }
            if (isAll) {
                for (String ref : revision.revisions()) {
                    Files.deleteIfExists(cache.refs().resolve(ref));
                }
                deleteFolder(revision.snapshot());
            }
            long freed = sweep(cache, files);
            if (isAll && of(cache).isEmpty()) {
                deleteFolder(cache.folder());
                deleteFolder(cache.locks());
            }
            return freed;
        } catch (IOException failure) {
            throw new HubException(Kind.DISK, name + " cannot be removed: " + NetworkText.words(failure), failure);
        }
    }

    private static List<CachedRevision.File> selected(HubName name, CachedRevision revision) {
        if (name.selector().isEmpty()) {
            return revision.files();
        }
        List<String> paths =
                revision.files().stream().map(CachedRevision.File::path).toList();
        Optional<String> opened = FileChoice.of(name, paths).opened();
        Set<String> chosen = new HashSet<>(FileChoice.of(name, paths).files());
        return revision.files().stream()
                .filter(file -> chosen.contains(file.path()))
                .filter(file -> FileChoice.isWeights(file.path())
                        || opened.filter(file.path()::equals).isPresent())
                .toList();
    }

    /** A download under way would be left with half of its files. */
    private static void requireIdle(HubCache cache, HubName name) throws IOException {
        for (Path lock : entries(cache.locks())) {
            try (var held = BlobLock.tryAcquire(lock).orElse(null)) {
                if (held == null) {
                    throw new HubException(
                            Kind.TRY_AGAIN, name + " is being pulled by another process: end it, or wait for it");
                }
            }
        }
    }

    /** Deletes the blobs of removed files that no other file leads to. */
    private static long sweep(HubCache cache, List<CachedRevision.File> removed) throws IOException {
        Set<Path> used = new HashSet<>();
        of(cache).forEach(each -> each.files().forEach(file -> used.add(file.blob())));
        long freed = 0;
        for (CachedRevision.File file : removed) {
            boolean isShared = Files.isSymbolicLink(file.blob());
            boolean isOurs = file.blob().startsWith(cache.folder());
            if (isOurs && !used.contains(file.blob())) {
                boolean isGone = Files.deleteIfExists(file.blob());
                boolean isCopy = file.blob().startsWith(cache.snapshots());
                freed += (isGone || isCopy) && !isShared ? file.size() : 0;
            }
        }
        return freed;
    }

    private static void deleteFolder(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> entries = Files.walk(folder)) {
            for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(entry);
            }
        }
    }

    private static List<Path> entries(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
