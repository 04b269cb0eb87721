package roselle.model.adapter;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import roselle.api.CheckpointException;
import roselle.backend.Device;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.LowRank;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.huggingface.FolderFiles;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.weights.AdaptableWeights;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/**
 * A LoRA adapter's files, opened: pairs of matrices by the modules that they add to (Hu et al., 2021). Nothing of them is ignored:
 * what cannot be added is refused by name.
 */
public final class AdapterFiles implements AutoCloseable {
    /** The largest rank. */
    public static final int MAX_RANK = 256;

    private final Checkpoint files;
    private final List<StoredPair> pairs;

    private AdapterFiles(Checkpoint files, List<StoredPair> pairs) {
        this.files = files;
        this.pairs = List.copyOf(pairs);
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
                            ? new GgufFiles(files).pairs()
                            : new PeftFiles(files).pairs());
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
        long elements = 0;
        for (StoredPair pair : pairs) {
            elements += pair.shrink().shape().elements() + pair.expand().shape().elements();
        }
        return elements * Float.BYTES;
    }

    /** The largest rank of a pair. */
    public int rank() {
        return pairs.stream()
                .mapToInt(pair -> Math.toIntExact(pair.shrink().shape().rows()))
                .max()
                .orElse(0);
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
        var matrices = new ArrayList<LowRank>();
        for (StoredPair pair : pairs) {
            matrices.add(bound(pair, model, weights));
        }
        Adapter adapter = device.allocateAdapter(matrices);
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

    private LowRank bound(StoredPair pair, Checkpoint model, AdaptableWeights weights) {
        AdaptableWeights.Place place = weights.place(pair.module()).orElseThrow(() -> nowhere(pair, model));
        if (pair.shrink().shape().columns() != place.weight().columns()
                || pair.expand().shape().rows() != place.outputs()) {
            throw new CheckpointException(files.source() + ": what it adds to " + pair.module() + " is "
                    + pair.expand().shape() + " times " + pair.shrink().shape() + ", but the model's is ["
                    + place.outputs() + ", " + place.weight().columns() + "]; the adapter is for another model");
        }
        requireFinite(pair.shrink());
        requireFinite(pair.expand());
        return new LowRank(
                place.weight(), place.firstOutput(), pair.shrink(), pair.expand(), place.order(), pair.scale());
    }

    private CheckpointException nowhere(StoredPair pair, Checkpoint model) {
        boolean isThere = model.tensors().keySet().stream().anyMatch(name -> name.startsWith(pair.module() + "."));
        return new CheckpointException(files.source()
                + (isThere
                        ? " adds to " + pair.module()
                                + ", which adapters cannot: embeddings, logits, experts, the latents of"
                                + " attention and products with an activation of their own stay as they are"
                        : " adds to " + pair.module()
                                + ", which the model does not have; the adapter is for another model"));
    }

    private void requireFinite(Tensor tensor) {
        var row = new float[Math.toIntExact(tensor.shape().columns())];
        for (long r = 0; r < tensor.shape().rows(); r++) {
            Dequantizer.row(tensor, r, row, 0);
            for (float number : row) {
                if (!Float.isFinite(number)) {
                    throw new CheckpointException(
                            files.source() + ": tensor " + tensor.name() + " has a number that is " + number);
                }
            }
        }
    }

    @Override
    public void close() {
        files.close();
    }
}
