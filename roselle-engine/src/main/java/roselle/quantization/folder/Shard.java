package roselle.quantization.folder;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.checkpoint.huggingface.SafetensorsHeaderWriter;
import roselle.tensor.DataType;

/**
 * A new file before its numbers: its tensors with those of the widest type first, so that each lies at a multiple of its width, and
 * a header that says what the file is made of.
 */
final class Shard {
    private static final String MAKER = "roselle";
    private static final byte[] BEGINNING = ("{\"__metadata__\":{\"" + MAKER + "\":").getBytes(StandardCharsets.UTF_8);

    private final List<FolderTensor> tensors;
    private final byte[] header;
    private final long bytes;
    private final Map<String, Long> places = new HashMap<>();

    /**
     * Of tensors that are in one file of the source, too.
     *
     * @param recipe what the file is made from and of; a file that says the same is the same
     */
    Shard(List<FolderTensor> tensors, String recipe) {
        this.tensors = tensors;
        var metadata = new LinkedHashMap<String, String>();
        metadata.put(MAKER, recipe);
        metadata.put("format", "pt");
        var writer = new SafetensorsHeaderWriter(metadata);
        tensors.stream()
                .flatMap(tensor -> tensor.stored().stream())
                .sorted(Comparator.comparingInt(stored -> -width(stored.type())))
                .forEach(stored ->
                        places.put(stored.name(), writer.tensor(stored.name(), stored.type(), stored.shape())));
        header = writer.toBytes();
        bytes = writer.bytes();
    }

    private static int width(DataType type) {
        return type.blockBytes();
    }

    List<FolderTensor> tensors() {
        return tensors;
    }

    byte[] header() {
        return header.clone();
    }

    /** Where in the file a tensor begins. */
    long place(StoredTensor stored) {
        return header.length + places.getOrDefault(stored.name(), 0L);
    }

    /** Whether a file is this one, whole. */
    boolean isWhole(Path file) throws IOException {
        return Files.exists(file)
                && Files.size(file) == header.length + bytes
                && Arrays.equals(first(file, 0, header.length), header);
    }

    /** Whether a file is one that was quantized here, whatever its recipe. */
    static boolean isOurs(Path file) throws IOException {
        return Arrays.equals(first(file, Long.BYTES, BEGINNING.length), BEGINNING);
    }

    private static byte[] first(Path file, int from, int count) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            in.skipNBytes(Math.min(from, Files.size(file)));
            return in.readNBytes(count);
        }
    }
}
