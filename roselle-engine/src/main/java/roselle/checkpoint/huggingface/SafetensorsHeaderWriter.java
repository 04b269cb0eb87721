package roselle.checkpoint.huggingface;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.SequencedMap;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Makes what stands before the tensors of a safetensors file: a length, and JSON that says which tensors follow each other. */
public final class SafetensorsHeaderWriter {
    private static final JsonMapper MAPPER = JsonMapper.shared();

    private final ObjectNode header = MAPPER.createObjectNode();
    private long bytes;

    /** A header that says something of the file first, in texts by name. */
    public SafetensorsHeaderWriter(SequencedMap<String, String> metadata) {
        ObjectNode texts = header.putObject("__metadata__");
        metadata.forEach(texts::put);
    }

    /** Adds a tensor behind those before, and returns where it begins, counted from the header's end. */
    public long tensor(String name, DataType type, Shape shape) {
        long start = bytes;
        ObjectNode place = header.putObject(name);
        place.put("dtype", type.label().toUpperCase(Locale.ROOT));
        var extents = place.putArray("shape");
        for (long extent : shape.toArray()) {
            extents.add(extent);
        }
        bytes += Math.multiplyExact(shape.rows(), type.rowBytes(shape.columns()));
        place.putArray("data_offsets").add(start).add(bytes);
        return start;
    }

    /** Bytes of all tensors. */
    public long bytes() {
        return bytes;
    }

    /** The header, so long that the tensors begin at a multiple of 8. */
    public byte[] toBytes() {
        byte[] text = MAPPER.writeValueAsString(header).getBytes(StandardCharsets.UTF_8);
        byte[] padded = Arrays.copyOf(text, (text.length + 7) / 8 * 8);
        Arrays.fill(padded, text.length, padded.length, (byte) ' ');
        return ByteBuffer.allocate(Long.BYTES + padded.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(padded.length)
                .put(padded)
                .array();
    }
}
