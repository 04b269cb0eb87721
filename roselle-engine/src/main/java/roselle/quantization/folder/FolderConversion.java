package roselle.quantization.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import roselle.quantization.encoding.TensorWriter;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * Writes a planned folder: its files of tensors under the names that they have in the source, and what lies beside them.
 *
 * <p>Each file is written beside its name, {@code .part}, and gets it when it is whole; its header says what it was made from and of.
 * A conversion that was stopped goes on with the first file that is not whole. The configuration comes last: a folder without it is no
 * model yet. Threads share the rows of a tensor; their number changes no bit.
 */
public final class FolderConversion {
    private final FolderPlan plan;
    private final Path target;
    private final int threads;

    /** Told of each tensor when it is begun. */
    @FunctionalInterface
    public interface Progress {
        /**
         * A tensor is begun, or found to be done.
         *
         * @param index of the tensor, from 0
         */
        void begin(int index, FolderTensor tensor, boolean isDone);
    }

    public FolderConversion(FolderPlan plan, Path target, int threads) {
        this.plan = plan;
        this.target = target;
        this.threads = threads;
    }

    /**
     * Writes the folder.
     *
     * @throws roselle.api.CheckpointException where the folder has files of another model, or a number is not finite
     */
    public void run(Progress progress) throws IOException {
        var beside = new FilesBeside(plan, target);
        beside.requireFree();
        Files.createDirectories(target);
        int index = 0;
        for (Map.Entry<String, Shard> entry : shards().entrySet()) {
            Shard shard = entry.getValue();
            Path file = target.resolve(entry.getKey());
            if (shard.isWhole(file)) {
                for (FolderTensor tensor : shard.tensors()) {
                    progress.begin(index++, tensor, true);
                }
            } else {
                beside.forgetConfiguration();
                index = write(shard, file, progress, index);
            }
        }
        beside.write();
    }

    private SequencedMap<String, Shard> shards() throws IOException {
        var shards = new LinkedHashMap<String, Shard>();
        for (Map.Entry<String, List<FolderTensor>> entry : plan.shards().entrySet()) {
            Path source = plan.source().source().resolve(entry.getKey());
            String recipe = plan.type() + " of " + Files.size(source) + " bytes, of "
                    + Files.getLastModifiedTime(source).toMillis();
            shards.put(entry.getKey(), new Shard(entry.getValue(), recipe));
        }
        return shards;
    }

    private int write(Shard shard, Path file, Progress progress, int first) throws IOException {
        int index = first;
        Path part = file.resolveSibling(file.getFileName() + FilesBeside.PART);
        try (var writer = new TensorWriter(part, threads, StandardOpenOption.TRUNCATE_EXISTING)) {
            writer.write(0, ByteBuffer.wrap(shard.header()));
            for (FolderTensor tensor : shard.tensors()) {
                progress.begin(index++, tensor, false);
                if (tensor.isQuantized()) {
                    encode(writer, shard, tensor);
                } else {
                    writer.copy(
                            shard.place(tensor.stored().getFirst()),
                            tensor.source().data());
                }
            }
            writer.force();
        }
        plan.source().checkFiles();
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return index;
    }

    private void encode(TensorWriter writer, Shard shard, FolderTensor tensor) throws IOException {
        Shape shape = tensor.source().shape();
        var encoder = new RowEncoder(plan.type(), tensor.source());
        var places = new Object() {
            long codes = shard.place(tensor.stored().get(0));
            long scales = shard.place(tensor.stored().get(1));
        };
        writer.encode(shape.rows(), shape.columns(), encoder.rowsOfGroup(), encoder::encode, rows -> {
            long codes = places.codes;
            long scales = places.scales;
            places.codes += rows.codes().limit();
            places.scales += rows.scales().limit();
            writer.write(codes, rows.codes());
            writer.write(scales, rows.scales());
        });
        if (tensor.stored().size() > 2) {
            writer.write(shard.place(tensor.stored().get(2)), extents(tensor.source()));
        }
    }

    private static ByteBuffer extents(Tensor matrix) {
        return ByteBuffer.allocate(2 * Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(matrix.shape().rows())
                .putLong(matrix.shape().columns())
                .flip();
    }
}
