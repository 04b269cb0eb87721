package roselle.hub;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * A model that comes inside the library, and is unpacked into a file before it is opened.
 *
 * <p>The file's name has the beginning of its SHA-256, so that versions of the library do not overwrite each other's. A new
 * file is checked against it, beside its place, and moved there in one step: another process sees all of it or nothing. What
 * is there already counts if its size and CRC-32 are right, which finds damage and takes milliseconds; in a fresh JVM a SHA-256
 * of the same file takes a third of a second.
 */
public enum BundledModel {
    /** The very small assistant of the project's own training, in Q8_0; see docs/demo-model.md. */
    DEMO(
            "demo",
            "/roselle/demo/demo.gguf",
            7_947_744,
            0xCF59A339L,
            "318a2f8cb76b47e4437898e73790caa5a1741ea2edd10dde93fbfe7095ea8fa7");

    private static final int BUFFER_BYTES = 1 << 16;

    private final String title;
    private final String resource;
    private final long bytes;
    private final long crc32;
    private final String sha256;

    BundledModel(String title, String resource, long bytes, long crc32, String sha256) {
        this.title = title;
        this.resource = resource;
        this.bytes = bytes;
        this.crc32 = crc32;
        this.sha256 = sha256;
    }

    /** What users call these models. */
    public static Stream<String> names() {
        return Arrays.stream(values()).map(model -> model.title);
    }

    /** What users call it. */
    public String title() {
        return title;
    }

    /** The size of its file. */
    public long bytes() {
        return bytes;
    }

    /** The model that a user calls by a name. */
    public static Optional<BundledModel> named(String name) {
        return Arrays.stream(values()).filter(model -> model.title.equals(name)).findFirst();
    }

    /** The model's file in a folder, which is made, and the file with it, if they are not there. */
    public Path unpackInto(Path folder) throws IOException {
        Path file = folder.resolve(title + "-" + sha256.substring(0, 12) + ".gguf");
        if (!isIntact(file)) {
            Files.createDirectories(folder);
            write(file);
        }
        return file;
    }

    private boolean isIntact(Path file) throws IOException {
        if (!Files.isRegularFile(file) || Files.size(file) != bytes) {
            return false;
        }
        var checksum = new CRC32();
        try (InputStream in = Files.newInputStream(file)) {
            byte[] buffer = new byte[BUFFER_BYTES];
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                checksum.update(buffer, 0, length);
            }
        }
        return checksum.getValue() == crc32;
    }

    private void write(Path file) throws IOException {
        Path part = Files.createTempFile(file.toAbsolutePath().getParent(), title, ".part");
        try {
            try (InputStream in = open();
                    OutputStream out = Files.newOutputStream(part)) {
                requireChecksum(copy(in, out));
            }
            move(part, file);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    /** Another process may have been faster, and have the file open where that forbids replacing it. */
    private void move(Path part, Path file) throws IOException {
        try {
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (FileSystemException refused) {
            if (!isIntact(file)) {
                throw refused;
            }
        }
    }

    private InputStream open() throws FileNotFoundException {
        InputStream in = BundledModel.class.getResourceAsStream(resource);
        if (in == null) {
            throw new FileNotFoundException(resource + " is not in the jar: this build of Roselle has no demo model");
        }
        return in;
    }

    private void requireChecksum(String found) throws IOException {
        if (!found.equals(sha256)) {
            throw new IOException(resource + " has the SHA-256 " + found + ", expected " + sha256
                    + ": the jar is damaged, build or fetch it again");
        }
    }

    /** Copies all bytes and returns their SHA-256. */
    private static String copy(InputStream in, OutputStream out) throws IOException {
        MessageDigest digest = sha256();
        byte[] buffer = new byte[BUFFER_BYTES];
        for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
            digest.update(buffer, 0, length);
            out.write(buffer, 0, length);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has SHA-256", impossible);
        }
    }
}
