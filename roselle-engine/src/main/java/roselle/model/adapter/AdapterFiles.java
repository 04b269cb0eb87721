package roselle.model.adapter;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import roselle.api.CheckpointException;
import roselle.backend.Device;
import roselle.backend.memory.Adapter;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.huggingface.FolderFiles;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.weights.AdaptableWeights;

/**
 * A LoRA adapter's files, opened: pairs of matrices by the modules that they add to (Hu et al., 2021), and matrices in the place of
 * the model's. Nothing of them is ignored: what cannot be honoured is refused by name.
 */
public final class AdapterFiles implements AutoCloseable {
    /** The largest rank. */
    public static final int MAX_RANK = 256;

    private final Checkpoint files;
    private final List<StoredPart> parts;

    private AdapterFiles(Checkpoint files, List<StoredPart> parts) {
        this.files = files;
        this.parts = List.copyOf(parts);
        if (parts.isEmpty()) {
            throw new CheckpointException(files.source() + " has no tensor: it is no adapter");
        }
    }

    /**
     * Opens a folder as PEFT writes it, or a GGUF file.
     *
     * @throws CheckpointException in one sentence, where it cannot be read or honoured
     */
    public static AdapterFiles open(Path path) {
        Checkpoint files = Checkpoints.openAdapter(path);
        try {
            return new AdapterFiles(
                    files,
                    files.format() == Checkpoint.Format.GGUF
                            ? new GgufFiles(files).parts()
                            : new PeftFiles(files).parts());
        } catch (Throwable failure) {
            files.close();
            throw failure;
        }
    }

    /** The SHA-256 of all bytes of the files, in hexadecimal: the same adapter whatever it is called. */
    public String digest() {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            for (Path file : paths()) {
                digest.update(ByteBuffer.allocate(Long.BYTES).putLong(0, Files.size(file)));
                try (var bytes = new DigestInputStream(Files.newInputStream(file), digest)) {
                    bytes.transferTo(OutputStream.nullOutputStream());
                }
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (IOException e) {
            throw new CheckpointException(files.source() + " cannot be read: " + e.getMessage(), e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private List<Path> paths() {
        return files.format() == Checkpoint.Format.GGUF
                ? List.of(files.source())
                : List.of(
                        files.source().resolve(FolderFiles.ADAPTER_CONFIG),
                        files.source().resolve(FolderFiles.ADAPTER));
    }

    /** The file or folder. */
    public Path source() {
        return files.source();
    }

    /** What its matrices take as float32. */
    public long bytes() {
        return StoredPart.elements(parts) * Float.BYTES;
    }

    /** The largest rank of a pair. */
    public int rank() {
        return parts.stream().mapToInt(StoredPart::rank).max().orElse(0);
    }

    /**
     * Brings the adapter to the device of the model that it was made for.
     *
     * @throws CheckpointException where the model is another one, or the adapter adds to what cannot be added to
     */
    public Adapter allocate(Checkpoint model, AdaptableWeights weights, Device device) {
        if (!device.takesAdapters()) {
            throw new CheckpointException("adapters run on the CPU alone so far, not on " + device.name()
                    + ": leave them out, or use --device cpu");
        }
        requireSameFormat(model);
        Adapter adapter = device.allocateAdapter(new AdapterBinding(files, model, weights, device).bind(parts));
        files.checkFiles();
        return adapter;
    }

    private void requireSameFormat(Checkpoint model) {
        if (model.format() != files.format()) {
            throw new CheckpointException(files.source()
                    + (files.format() == Checkpoint.Format.GGUF
                            ? " is GGUF, but the model is not: take the adapter as PEFT wrote it"
                            : " is PEFT's, but the model is GGUF: convert the adapter with convert_lora_to_gguf.py"));
        }
        if (model.format() == Checkpoint.Format.GGUF) {
            String own = files.config().string(GgufFiles.ARCHITECTURE);
            String expected = model.config().string(GgufFiles.ARCHITECTURE);
            if (!own.equals(expected)) {
                throw new CheckpointException(
                        files.source() + " is for a model of architecture " + own + ", but this one is " + expected);
            }
        }
    }

    @Override
    public void close() {
        files.close();
    }
}
