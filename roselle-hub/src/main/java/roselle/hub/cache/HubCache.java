package roselle.hub.cache;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import roselle.hub.disk.WholeFile;
import roselle.hub.file.Checksum;
import roselle.hub.file.RepositoryFile;

/**
 * The folders of one repository in the cache, as Python's huggingface_hub lays them out, so that both share every file.
 *
 * <pre>
 * models--org--name/blobs/CHECKSUM                 the bytes
 * models--org--name/blobs/CHECKSUM.*.incomplete    what a download that was broken off has
 * models--org--name/snapshots/COMMIT/PATH          a relative link to the bytes
 * models--org--name/refs/REVISION                  the commit that a branch or tag was when it was last fetched
 * .locks/models--org--name/CHECKSUM.lock           held while a blob is made
 * </pre>
 *
 * A blob appears in one step, whole and checked: that, not the lock, is what readers rely on.
 *
 * @param root the cache
 * @param repository {@code org/name}
 */
public record HubCache(Path root, String repository) {
    public static final String MODELS = "models--";
    static final String LOCKS = ".locks";
    private static final int MAX_LISTED = 100_000;
    private static final int DEEPEST = 16;
    private static final int LONGEST_REF = 100;
    private static final String TAG = """
            Signature: 8a477f597d28d172789f06886806bc55
            # This file is a cache directory tag created by huggingface_hub.
            # For information about cache directory tags, see:
            #\thttps://bford.info/cachedir/
            """;

    private String folderName() {
        return MODELS + repository.replace("/", "--");
    }

    public Path folder() {
        return root.resolve(folderName());
    }

    Path blobs() {
        return folder().resolve("blobs");
    }

    public Path blob(Checksum checksum) {
        return blobs().resolve(checksum.hex());
    }

    public Path lock(Checksum checksum) {
        return locks().resolve(checksum.hex() + ".lock");
    }

    public Path locks() {
        return root.resolve(LOCKS).resolve(folderName());
    }

    public Path snapshots() {
        return folder().resolve("snapshots");
    }

    public Path snapshot(String commit) {
        return snapshots().resolve(commit);
    }

    public Path refs() {
        return folder().resolve("refs");
    }

    // ---- reading ----

    /** The commit that a revision was when it was last fetched; a commit is itself. */
    public Optional<String> commit(String revision) {
        if (Checksum.isGitName(revision)) {
            return Optional.of(revision);
        }
        try (var in = Files.newInputStream(refs().resolve(revision))) {
            String text = new String(in.readNBytes(LONGEST_REF), StandardCharsets.UTF_8).strip();
            return Optional.of(text).filter(Checksum::isGitName);
        } catch (IOException absent) {
            return Optional.empty();
        }
    }

    /** The paths of the files that a snapshot has, whole. */
    public List<String> files(String commit) throws IOException {
        Path folder = snapshot(commit);
        var files = new ArrayList<String>();
        try (Stream<Path> entries = Files.walk(folder, DEEPEST)) {
            entries.limit(MAX_LISTED)
                    .filter(Files::isRegularFile)
                    .sorted()
                    .forEach(
                            file -> files.add(folder.relativize(file).toString().replace('\\', '/')));
        } catch (NoSuchFileException absent) {
            return List.of();
        }
        return files;
    }

    /** Whether a file's blob is there with the size that the hub says. */
    public boolean has(RepositoryFile file) {
        try {
            Path blob = blob(file.checksum());
            return Files.isRegularFile(blob) && Files.size(blob) == file.size();
        } catch (IOException unreadable) {
            return false;
        }
    }

    // ---- writing ----

    public void prepare() throws IOException {
        Files.createDirectories(blobs());
        Files.createDirectories(locks());
        writeTag();
    }

    /** Tells programs that make backups to leave the cache out; without it everything works. */
    private void writeTag() {
        try {
            Path tag = root.resolve("CACHEDIR.TAG");
            if (Files.notExists(tag)) {
                new WholeFile(tag).write(TAG);
            }
        } catch (IOException _) {
            return;
        }
    }

    /** Makes a snapshot's path lead to the blob of a file. */
    public void link(String commit, RepositoryFile file) throws IOException {
        Path link = snapshot(commit).resolve(file.path()).normalize();
        if (!link.startsWith(snapshot(commit))) {
            throw new IllegalStateException("an unsafe path reached the cache: " + file.path());
        }
        Path blob = blob(file.checksum());
        Path folder = Objects.requireNonNull(link.getParent(), "a snapshot's files have a folder");
        Path target = folder.relativize(blob);
        if (Files.isSymbolicLink(link) ? Files.readSymbolicLink(link).equals(target) : isCopy(link, file)) {
            return;
        }
        Files.createDirectories(folder);
        Path fresh = link.resolveSibling("." + UUID.randomUUID() + ".tmp");
        try {
            linkOrMove(fresh, target, blob);
            Files.move(fresh, link, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    private static boolean isCopy(Path link, RepositoryFile file) throws IOException {
        return Files.isRegularFile(link) && Files.size(link) == file.size();
    }

    /** Where links cannot be made, the bytes themselves go to the place of the link, as huggingface_hub does. */
    private static void linkOrMove(Path link, Path target, Path blob) throws IOException {
        try {
            Files.createSymbolicLink(link, target);
        } catch (UnsupportedOperationException | FileSystemException refused) {
            Files.move(blob, link);
        }
    }

    /** Remembers which commit a revision is now. */
    public void writeRef(String revision, String commit) throws IOException {
        if (revision.equals(commit) || commit(revision).filter(commit::equals).isPresent()) {
            return;
        }
        Path ref = refs().resolve(revision);
        Files.createDirectories(ref.getParent());
        new WholeFile(ref).write(commit);
    }

    /** A lock that other users of a shared cache may take as well. */
    static void shareLock(Path lock) {
        try {
            Files.setPosixFilePermissions(lock, PosixFilePermissions.fromString("rw-rw-r--"));
        } catch (IOException | UnsupportedOperationException _) {
            return; // another user's, or a system without such permissions
        }
    }
}
