package roselle.server.ollama;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import roselle.server.answer.Answers;
import roselle.server.created.CreatedModel;
import roselle.server.created.CreatedModels;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.pool.EnginePool;

/**
 * Files that clients upload before they make models of them: by their digests in a folder beside the server's models, where that
 * folder may change while the server runs. What does not hash to its name is thrown away. Thread-safe.
 *
 * <p>A file goes with the last model that was made of it. One that became no model goes an hour after a client last asked for it or
 * sent it, when the next one is sent, a model is made or deleted, or a server starts: clients send files first, and may try again.
 */
final class BlobStore {
    private static final System.Logger LOG = System.getLogger(BlobStore.class.getName());
    private static final Pattern DIGEST = Pattern.compile("sha256[:-]([0-9a-f]{64})");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._/-]{0,100}(:[A-Za-z0-9._-]{1,26})?");
    private static final String GGUF = ".gguf";
    private static final int DIGITS_OF_A_NAME = 12;

    /** How long a file waits for a model to be made of it. */
    private static final Duration GRACE = Duration.ofHours(1);

    /** Room that stays on the disk. */
    private static final long SPARE_BYTES = 1L << 30;

    private final Answers answers;
    private final CreatedModels created;
    private final Map<String, Instant> asked = new HashMap<>(); // for files, by their names, and when last

    BlobStore(Answers answers, CreatedModels created) {
        this.answers = answers;
        this.created = created;
        sweep();
    }

    /** Whether a model may be called so; a path is nothing that it could be taken for. */
    static boolean isName(String name) {
        return NAME.matcher(name).matches() && !name.contains("..") && !name.contains("//");
    }

    private Optional<EnginePool> poolOfFolder() {
        return answers.models().pool().filter(pool -> pool.folder().isPresent());
    }

    private EnginePool pool() {
        return poolOfFolder()
                .orElseThrow(
                        () -> new ApiException(
                                ErrorKind.NOT_SUPPORTED,
                                "uploading files is not supported: start the server with --models FOLDER and --model-control poll or explicit"));
    }

    private Path models() {
        return pool().folder().orElseThrow();
    }

    private Path path(String digest) {
        var matcher = DIGEST.matcher(digest);
        if (!matcher.matches()) {
            throw ApiException.invalid("digest", "a digest is sha256: and 64 hexadecimal digits, and this one is not");
        }
        return CreatedModels.blobs(models()).resolve("sha256-" + matcher.group(1));
    }

    /** The same of a file that somebody asks for, who may make a model of it next, if it is there. */
    private synchronized Optional<Path> wanted(String digest) {
        Optional<Path> blob = Optional.of(path(digest)).filter(Files::exists);
        blob.ifPresent(file -> asked.put(name(file), Instant.now()));
        return blob;
    }

    private static String name(Path blob) {
        return String.valueOf(blob.getFileName());
    }

    /** {@code GET} and {@code HEAD}: whether a file is there; its content is told to nobody. */
    void find(Exchange exchange) {
        if (wanted(exchange.rest()).isEmpty()) {
            throw new ApiException(ErrorKind.NOT_FOUND, "there is no file of this digest");
        }
        exchange.sendEmpty(200);
    }

    /** {@code POST}: takes a file as it comes. */
    void take(Exchange exchange) throws IOException {
        try (var _ = answers.admit(exchange)) {
            Path target = path(exchange.rest());
            sweep();
            if (wanted(exchange.rest()).isEmpty()) {
                Files.createDirectories(target.getParent());
                Path part = Files.createTempFile(target.getParent(), "part", "");
                try {
                    receive(exchange, part, target);
                } finally {
                    Files.deleteIfExists(part);
                }
            }
            exchange.sendEmpty(201);
        }
    }

    private static void receive(Exchange exchange, Path part, Path target) throws IOException {
        long room = Math.max(0, Files.getFileStore(part).getUsableSpace() - SPARE_BYTES);
        MessageDigest digest = sha256();
        try (InputStream body = new DigestInputStream(exchange.bodyStream(room), digest)) {
            Files.copy(body, part, StandardCopyOption.REPLACE_EXISTING);
        }
        String name = "sha256-" + HexFormat.of().formatHex(digest.digest());
        if (!target.endsWith(name)) {
            throw ApiException.invalid("digest", "the file's digest is another than the path says: it was sent badly");
        }
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing); // every JDK has it
        }
    }

    /**
     * A file that became a model.
     *
     * @param model how the server calls it
     * @param file its name in the folder
     * @param isNew whether the folder had no such file before
     */
    record Placed(String model, String file, boolean isNew) {}

    /** Makes an uploaded file a model of the folder, under a name that no other file has. */
    synchronized Placed place(String name, Path blob) {
        String stem = name.replaceAll("[/:]", "-");
        int digits = name(blob).indexOf('-') + 1;
        String unlike = stem + "-" + name(blob).substring(digits, digits + DIGITS_OF_A_NAME);
        Path usual = models().resolve(stem + GGUF);
        Path target = isFreeFor(usual, blob) ? usual : models().resolve(unlike + GGUF);
        boolean isNew = !Files.exists(target);
        try {
            if (isNew) {
                link(blob, target);
            }
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
        pool().refresh();
        Optional<String> model = pool().nameOf(target);
        if (model.isEmpty() && isNew) {
            delete(name(target));
        }
        return new Placed(
                model.orElseThrow(() -> ApiException.invalid(
                        "model",
                        "another model of the folder has the name that " + name + " would have: take another")),
                name(target),
                isNew);
    }

    private static boolean isFreeFor(Path target, Path blob) {
        return !Files.exists(target, LinkOption.NOFOLLOW_LINKS) || isSame(target, blob);
    }

    /** Whether both are names of one file. */
    private static boolean isSame(Path one, Path other) {
        try {
            return Files.isSameFile(one, other);
        } catch (NoSuchFileException gone) {
            return false;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** The one uploaded file that a field names; nothing where it names none. */
    Optional<Path> uploaded(String field, Map<String, Object> files) {
        if (files.isEmpty()) {
            return Optional.empty();
        }
        if (files.size() != 1) {
            throw ApiException.invalid(field, field + " has " + files.size() + " files: it must have one, in GGUF");
        }
        Optional<Path> blob = wanted(String.valueOf(files.values().iterator().next()));
        if (blob.isEmpty()) {
            throw ApiException.invalid(
                    field, field + " names a digest that was not uploaded: send it to /api/blobs first");
        }
        return blob;
    }

    /** A second name for the file, where the disk has that; the model then takes no room of its own. */
    private static void link(Path blob, Path target) throws IOException {
        try {
            Files.createLink(target, blob);
        } catch (UnsupportedOperationException | FileSystemException noLinks) {
            Path part = Files.createTempFile(blob.getParent(), "part", "");
            Files.copy(blob, part, StandardCopyOption.REPLACE_EXISTING);
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Takes a model's file from the folder; does nothing where it has none. */
    void delete(String file) {
        if (file.isEmpty()) {
            return;
        }
        try {
            pool().drop(file);
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    /** A model is made: nobody waits any more for what it is made of. */
    synchronized void settle(CreatedModel model) {
        all().filter(blob -> isOf(model, blob)).forEach(blob -> asked.remove(name(blob)));
        sweep();
    }

    /** A model is gone: takes what was uploaded for it alone, unless somebody has asked for that since; and its file, if it may. */
    synchronized void forget(CreatedModel gone, boolean withFile) {
        List<Path> own = all().filter(blob -> isOf(gone, blob)).toList();
        if (withFile) {
            delete(gone.file());
        }
        own.stream().filter(blob -> !isNamed(blob) && !isAwaited(blob)).forEach(this::remove);
        sweep();
    }

    /** Takes files that no model is made of and nobody has asked for lately, and what is left of uploads that broke off. */
    private synchronized void sweep() {
        all().filter(blob -> !isYoung(blob) && !isAwaited(blob) && !isNamed(blob))
                .forEach(this::remove);
    }

    /** All uploaded files, and parts of such. */
    private Stream<Path> all() {
        Optional<Path> folder = poolOfFolder().flatMap(EnginePool::folder).map(CreatedModels::blobs);
        if (folder.filter(Files::isDirectory).isEmpty()) {
            return Stream.empty();
        }
        try (Stream<Path> files = Files.list(folder.get())) {
            return files.toList().stream();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private boolean isNamed(Path blob) {
        return created.all().stream().anyMatch(model -> isOf(model, blob));
    }

    /** Whether a model is made of an uploaded file: it names that as its adapter, or its own file is another name of it. */
    private boolean isOf(CreatedModel model, Path blob) {
        boolean isFile = !model.file().isEmpty() && isSame(models().resolve(model.file()), blob);
        return isFile || model.adapter().equals(name(blob));
    }

    private boolean isAwaited(Path blob) {
        Instant last = asked.get(name(blob));
        return last != null && isYoung(last);
    }

    private static boolean isYoung(Path blob) {
        try {
            return isYoung(Files.getLastModifiedTime(blob).toInstant());
        } catch (NoSuchFileException gone) {
            return true;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static boolean isYoung(Instant time) {
        return time.isAfter(Instant.now().minus(GRACE));
    }

    /** Takes a file away, and from engines that have read it as an adapter; requests that use it go on to their ends. */
    private void remove(Path blob) {
        String name = name(blob);
        asked.remove(name);
        try {
            Files.deleteIfExists(blob);
        } catch (IOException unwritable) { // no reason to refuse what somebody asks for
            LOG.log(System.Logger.Level.WARNING, "event=upload_not_removed file=" + name, unwritable);
        }
        answers.models().all().stream()
                .filter(model -> model.name().equals(name))
                .forEach(model -> model.engine().unloadAdapter(name));
    }
}
