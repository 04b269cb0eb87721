package roselle.server.ollama;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.regex.Pattern;
import roselle.server.answer.Answers;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.pool.EnginePool;

/**
 * Files that clients upload before they make models of them: by their digests in a folder beside the server's models, where that
 * folder may change while the server runs. What does not hash to its name is thrown away.
 */
final class BlobStore {
    private static final String FOLDER = ".blobs";
    private static final Pattern DIGEST = Pattern.compile("sha256[:-]([0-9a-f]{64})");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._/-]{0,100}(:[A-Za-z0-9._-]{1,26})?");
    private static final String GGUF = ".gguf";

    /** Room that stays on the disk. */
    private static final long SPARE_BYTES = 1L << 30;

    private final Answers answers;

    BlobStore(Answers answers) {
        this.answers = answers;
    }

    /** Whether a model may be called so; a path is nothing that it could be taken for. */
    static boolean isName(String name) {
        return NAME.matcher(name).matches() && !name.contains("..") && !name.contains("//");
    }

    private EnginePool pool() {
        return answers.models()
                .pool()
                .filter(pool -> pool.folder().isPresent())
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
        return models().resolve(FOLDER).resolve("sha256-" + matcher.group(1));
    }

    /** {@code GET} and {@code HEAD}: whether a file is there; its content is told to nobody. */
    void find(Exchange exchange) {
        if (!Files.exists(path(exchange.rest()))) {
            throw new ApiException(ErrorKind.NOT_FOUND, "there is no file of this digest");
        }
        exchange.sendEmpty(200);
    }

    /** {@code POST}: takes a file as it comes. */
    void take(Exchange exchange) throws IOException {
        try (var _ = answers.admit(exchange)) {
            Path target = path(exchange.rest());
            Files.createDirectories(target.getParent());
            if (!Files.exists(target)) {
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

    /** A file that became a model: how the server calls that, and the file's name in the folder. */
    record Placed(String model, String file) {}

    /** Makes the one uploaded file a model of the folder. */
    Placed place(String name, Map<String, Object> files) {
        if (files.size() != 1) {
            throw ApiException.invalid("files", "files has " + files.size() + ": it must be one, in GGUF");
        }
        Path blob = path(String.valueOf(files.values().iterator().next()));
        if (!Files.exists(blob)) {
            throw ApiException.invalid(
                    "files", "files names a digest that was not uploaded: send it to /api/blobs first");
        }
        Path target = models().resolve(name.replaceAll("[/:]", "-") + GGUF);
        try {
            link(blob, target);
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
        pool().refresh();
        String model = pool().nameOf(target)
                .orElseThrow(() -> ApiException.invalid(
                        "model",
                        "another model of the folder has the name that " + name + " would have: take another"));
        return new Placed(model, String.valueOf(target.getFileName()));
    }

    /** The one uploaded file that adapts a model, as it is kept; empty where none is named. */
    String adapter(Map<String, Object> files) {
        if (files.isEmpty()) {
            return "";
        }
        if (files.size() != 1) {
            throw ApiException.invalid("adapters", "adapters has " + files.size() + ": it must be one, in GGUF");
        }
        Path blob = path(String.valueOf(files.values().iterator().next()));
        if (!Files.exists(blob)) {
            throw ApiException.invalid(
                    "adapters", "adapters names a digest that was not uploaded: send it to /api/blobs first");
        }
        return String.valueOf(blob.getFileName());
    }

    /** A model with an uploaded adapter, which its engine reads if it has not done so; without a file the model. */
    ServedModel adapted(ServedModel model, String file) {
        if (file.isEmpty()) {
            return model;
        }
        boolean isLoaded =
                model.engine().adapters().stream().anyMatch(each -> each.name().equals(file));
        if (!isLoaded) {
            model.engine().loadAdapter(file, models().resolve(FOLDER).resolve(file));
        }
        return new ServedModel(file, model.engine(), model.created(), model.name());
    }

    /** A second name for the file, where the disk has that; the model then takes no room of its own. */
    private static void link(Path blob, Path target) throws IOException {
        Files.deleteIfExists(target);
        try {
            Files.createLink(target, blob);
        } catch (UnsupportedOperationException | FileSystemException noLinks) {
            Files.copy(blob, target);
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
}
