package roselle.server.batch;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.JsonWriter;
import roselle.server.http.RequestIds;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The files and batches of a folder, which one process has at a time. Thread-safe.
 *
 * <p>{@code journal} says what there is: a record for each change, the last one of an id holds, and it is written anew when the
 * folder is opened. {@code files} has what clients sent and get, by id; a file counts once the journal has it, so what was half
 * written is removed at the next start. {@code batches} has the answers of each batch that is not finished.
 */
final class BatchStore implements Closeable {
    static final int MAX_FILES = 10_000;
    static final int MAX_UNFINISHED = 100;
    static final long FILE_SECONDS = 30L * 86_400;

    private static final JsonMapper MAPPER = new JsonMapper();

    private final Path folder;
    private final long space;
    private final InstantSource clock;
    private final FileChannel lockFile;
    private final LinkedHashMap<String, StoredFile> files = new LinkedHashMap<>();
    private final LinkedHashMap<String, Batch> batches = new LinkedHashMap<>();
    private final CheckedLog journal;

    private BatchStore(Path folder, long space, InstantSource clock) throws IOException {
        this.folder = folder;
        this.space = space;
        this.clock = clock;
        Files.createDirectories(folder.resolve("files"));
        Files.createDirectories(folder.resolve("batches"));
        lockFile = locked(folder);
        try {
            journal = rewritten();
            removeStrays();
        } catch (Throwable failure) {
            lockFile.close();
            throw failure;
        }
    }

    /**
     * Opens a folder, or makes one.
     *
     * @throws InvalidRequestException if another process has it
     * @throws roselle.api.CheckpointException if its journal is damaged
     */
    static BatchStore open(Path folder, long space, InstantSource clock) {
        try {
            return new BatchStore(folder, space, clock);
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot use the folder of batches: " + failure, failure);
        }
    }

    private static FileChannel locked(Path folder) throws IOException {
        var channel = FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return channel;
            }
        } catch (java.nio.channels.OverlappingFileLockException _) {
            // another server of this process has it
        }
        channel.close();
        throw new InvalidRequestException("batch folder is used by another server: give each one its own");
    }

    // ---- the journal ----

    /** Reads the journal and writes one of what still holds in its place. */
    private CheckedLog rewritten() throws IOException {
        Path present = folder.resolve("journal");
        try (var _ = CheckedLog.open(present, (record, _) -> apply(MAPPER.readTree(record)))) {
            sweep();
        }
        Path next = folder.resolve("journal.next");
        Files.deleteIfExists(next);
        try (var log = CheckedLog.open(next, (_, _) -> {})) {
            files.values().forEach(file -> log.append(change(List.of(file), null, "")));
            batches.values().forEach(batch -> log.append(change(List.of(), batch, "")));
            log.force();
        }
        Files.move(next, present, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return CheckedLog.open(present, (_, _) -> {});
    }

    private void apply(JsonNode change) {
        for (JsonNode each : change.get("files").values()) {
            var file = StoredFile.of(each);
            files.put(file.id(), file);
        }
        if (change.has("batch")) {
            var batch = Batch.of(change.get("batch"));
            batches.put(batch.id(), batch);
        }
        files.remove(change.get("removed").stringValue());
    }

    private static byte[] change(List<StoredFile> added, @Nullable Batch batch, String removed) {
        var json = new JsonWriter().object().array("files");
        added.forEach(file -> file.keep(json));
        json.endArray().field("removed", removed);
        if (batch != null) {
            batch.keep(json.name("batch"));
        }
        return json.endObject().toBytes();
    }

    /** One change, which is there as a whole or not at all. */
    private void write(List<StoredFile> added, @Nullable Batch batch, String removed) {
        byte[] record = change(added, batch, removed);
        journal.append(record);
        journal.force();
        apply(MAPPER.readTree(record));
    }

    private void removeStrays() throws IOException {
        removeAllBut(folder.resolve("files"), files.keySet());
        removeAllBut(
                folder.resolve("batches"),
                batches.values().stream()
                        .filter(batch -> !batch.state().isLast())
                        .map(Batch::id)
                        .collect(Collectors.toSet()));
    }

    private static void removeAllBut(Path folder, Set<String> names) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                if (!names.contains(each.getFileName().toString())) {
                    Files.delete(each);
                }
            }
        }
    }

    /** Forgets what has had its time; what an unfinished batch reads has not. */
    private void sweep() {
        long now = now();
        batches.values().removeIf(batch -> batch.state().isLast() && batch.since() + FILE_SECONDS < now);
        Set<String> read = batches.values().stream()
                .filter(batch -> !batch.state().isLast())
                .map(batch -> batch.order().inputFile())
                .collect(Collectors.toSet());
        files.values().removeIf(file -> {
            boolean isOver = file.expiresAt() <= now && !read.contains(file.id());
            if (isOver) {
                delete(path(file.id()));
            }
            return isOver;
        });
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    long now() {
        return clock.instant().getEpochSecond();
    }

    // ---- files ----

    /** Where the bytes of a file are, or will be. */
    Path path(String id) {
        return folder.resolve("files").resolve(id);
    }

    /** Where the answers of an unfinished batch are. */
    Path results(String batch) {
        return folder.resolve("batches").resolve(batch);
    }

    static String newFileId() {
        return RequestIds.next("file-");
    }

    /** How many bytes a new file may have. */
    synchronized long room() {
        sweep();
        if (files.size() >= MAX_FILES) {
            throw new ApiException(
                    ErrorKind.INVALID, "there are " + MAX_FILES + " files, the most that are kept: delete some");
        }
        return Math.max(
                0, space - files.values().stream().mapToLong(StoredFile::bytes).sum());
    }

    /** Adds a file whose bytes are at its path. */
    synchronized void add(StoredFile file) {
        forceFile(path(file.id()));
        write(List.of(file), null, "");
    }

    static void forceFile(Path file) {
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.force(true);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    synchronized List<StoredFile> files(String key) {
        sweep();
        return files.values().stream().filter(file -> file.key().equals(key)).toList();
    }

    synchronized StoredFile file(String id, String key) {
        return files(key).stream()
                .filter(file -> file.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new ApiException(ErrorKind.NOT_FOUND, "there is no file of that id"));
    }

    synchronized void remove(String id, String key) {
        file(id, key);
        Optional<Batch> reader = batches.values().stream()
                .filter(batch ->
                        !batch.state().isLast() && batch.order().inputFile().equals(id))
                .findFirst();
        if (reader.isPresent()) {
            throw ApiException.invalid(
                    "file_id", "the file is read by " + reader.get().id() + ": wait for it, or cancel it first");
        }
        write(List.of(), null, id);
        delete(path(id));
    }

    // ---- batches ----

    synchronized Batch add(Batch.Order order) {
        if (unfinished().size() >= MAX_UNFINISHED) {
            throw ApiException.invalid(
                    "", "there are " + MAX_UNFINISHED + " batches that are not finished: wait for one, or cancel it");
        }
        Batch batch = Batch.ordered(order);
        write(List.of(), batch, "");
        return batch;
    }

    synchronized List<Batch> unfinished() {
        return batches.values().stream()
                .filter(batch -> !batch.state().isLast())
                .toList();
    }

    synchronized List<Batch> batches(String key) {
        sweep();
        return batches.values().stream()
                .filter(batch -> batch.order().key().equals(key))
                .toList();
    }

    synchronized Batch batch(String id, String key) {
        return batches(key).stream()
                .filter(batch -> batch.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new ApiException(ErrorKind.NOT_FOUND, "there is no batch of that id"));
    }

    /** As it is now, whoever's it is. */
    synchronized Batch present(String id) {
        Batch batch = batches.get(id);
        if (batch == null) {
            throw new IllegalStateException("no batch " + id);
        }
        return batch;
    }

    /** Writes what has become of a batch, with the files that it has now. */
    synchronized void change(Batch batch, List<StoredFile> outputs) {
        outputs.forEach(file -> forceFile(path(file.id())));
        write(outputs, batch, "");
        if (batch.state().isLast()) {
            delete(results(batch.id()));
        }
    }

    /** Has a batch be cancelled, if it is not finished and is not being finished. */
    synchronized Batch cancel(String id, String key) {
        Batch batch = batch(id, key);
        switch (batch.state()) {
            case VALIDATING, IN_PROGRESS -> change(batch.reached(BatchState.CANCELLING, now()), List.of());
            case CANCELLING -> {}
            case FINALIZING, COMPLETED, EXPIRED, CANCELLED, FAILED ->
                throw ApiException.invalid(
                        "batch_id", "the batch is " + batch.state().word() + ": it can no longer be cancelled");
        }
        return present(id);
    }

    @Override
    public synchronized void close() {
        try {
            journal.close();
            lockFile.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
