package roselle.checkpoint.gguf;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import roselle.checkpoint.file.TensorPlace;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Writes GGUF files for tests, well-formed ones and, through the methods named {@code raw...}, hostile ones. */
public final class GgufWriter {
    private final ByteArrayOutputStream entries = new ByteArrayOutputStream();
    private final ByteArrayOutputStream infos = new ByteArrayOutputStream();
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();
    private int magic = GgufHeaderReader.MAGIC;
    private int version = 3;
    private int alignment = 32;
    private long entryCount;
    private long tensorCount;

    public GgufWriter version(int number) {
        version = number;
        return this;
    }

    public GgufWriter put(String key, String value) {
        return rawEntry(key, GgufType.STRING, string(value));
    }

    public GgufWriter put(String key, int value) {
        return rawEntry(key, GgufType.UINT32, little(4, bytes -> bytes.putInt(value)));
    }

    public GgufWriter put(String key, long value) {
        return rawEntry(key, GgufType.INT64, little(8, bytes -> bytes.putLong(value)));
    }

    public GgufWriter put(String key, float value) {
        return rawEntry(key, GgufType.FLOAT32, little(4, bytes -> bytes.putFloat(value)));
    }

    public GgufWriter put(String key, double value) {
        return rawEntry(key, GgufType.FLOAT64, little(8, bytes -> bytes.putDouble(value)));
    }

    public GgufWriter put(String key, boolean value) {
        return rawEntry(key, GgufType.BOOL, new byte[] {(byte) (value ? 1 : 0)});
    }

    public GgufWriter put(String key, List<String> values) {
        var payload = new ByteArrayOutputStream();
        values.forEach(value -> payload.writeBytes(string(value)));
        return rawArray(key, GgufType.STRING, values.size(), payload.toByteArray());
    }

    public GgufWriter put(String key, int[] values) {
        byte[] payload = little(4 * values.length, bytes -> bytes.asIntBuffer().put(values));
        return rawArray(key, GgufType.INT32, values.length, payload);
    }

    public GgufWriter put(String key, float[] values) {
        byte[] payload =
                little(4 * values.length, bytes -> bytes.asFloatBuffer().put(values));
        return rawArray(key, GgufType.FLOAT32, values.length, payload);
    }

    public GgufWriter alignment(int bytes) {
        alignment = bytes;
        return alignmentKey(bytes);
    }

    public GgufWriter tensor(Tensor tensor) {
        long[] extents = tensor.shape().toArray();
        long offset = data.size();
        data.writeBytes(tensor.data().toArray(ValueLayout.JAVA_BYTE));
        while (data.size() % alignment != 0) {
            data.write(0);
        }
        return rawTensor(tensor.name(), extents, numberOf(tensor.type()), offset);
    }

    /** A tensor of zeros. */
    public GgufWriter tensor(String name, DataType type, long... extents) {
        Shape shape = Shape.of(extents);
        byte[] zeros = new byte[Math.toIntExact(TensorPlace.byteSize(type, shape))];
        return tensor(new Tensor(name, type, shape, MemorySegment.ofArray(zeros)));
    }

    /** The key alone, whatever the file does. */
    GgufWriter alignmentKey(int bytes) {
        return put("general.alignment", bytes);
    }

    GgufWriter rawMagic(int number) {
        magic = number;
        return this;
    }

    /** Adds to the counts in the header, beyond what was written. */
    GgufWriter rawCounts(long moreTensors, long moreEntries) {
        tensorCount += moreTensors;
        entryCount += moreEntries;
        return this;
    }

    GgufWriter rawEntry(String key, GgufType type, byte[] payload) {
        return rawEntry(key, type.number(), payload);
    }

    GgufWriter rawEntry(String key, int type, byte[] payload) {
        entries.writeBytes(string(key));
        entries.writeBytes(little(4, bytes -> bytes.putInt(type)));
        entries.writeBytes(payload);
        entryCount++;
        return this;
    }

    GgufWriter rawArray(String key, GgufType type, long count, byte[] payload) {
        byte[] array = little(
                12 + payload.length,
                bytes -> bytes.putInt(type.number()).putLong(count).put(payload));
        return rawEntry(key, GgufType.ARRAY, array);
    }

    /** A tensor's entry, extents outermost first. */
    GgufWriter rawTensor(String name, long[] extents, int type, long offset) {
        infos.writeBytes(string(name));
        infos.writeBytes(little(4 + 8 * extents.length + 12, bytes -> {
            bytes.putInt(extents.length);
            for (int axis = extents.length - 1; axis >= 0; axis--) {
                bytes.putLong(extents[axis]);
            }
            bytes.putInt(type).putLong(offset);
        }));
        tensorCount++;
        return this;
    }

    GgufWriter rawData(int bytes) {
        data.writeBytes(new byte[bytes]);
        return this;
    }

    public byte[] toBytes() {
        byte[] header = headerBytes();
        int padding = (int) (Math.ceilDiv((long) header.length, alignment) * alignment - header.length);
        return little(
                header.length + padding + data.size(),
                bytes -> bytes.put(header).put(new byte[padding]).put(data.toByteArray()));
    }

    /** What stands before the padding and the tensors. */
    byte[] headerBytes() {
        return little(
                24 + entries.size() + infos.size(),
                bytes -> bytes.putInt(magic)
                        .putInt(version)
                        .putLong(tensorCount)
                        .putLong(entryCount)
                        .put(entries.toByteArray())
                        .put(infos.toByteArray()));
    }

    static byte[] string(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return little(8 + utf8.length, bytes -> bytes.putLong(utf8.length).put(utf8));
    }

    public static byte[] little(int length, Consumer<ByteBuffer> filling) {
        byte[] bytes = new byte[length];
        filling.accept(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
        return bytes;
    }

    private static int numberOf(DataType type) {
        for (int number = 0; number < 64; number++) {
            if (GgmlType.of(number).filter(type::equals).isPresent()) {
                return number;
            }
        }
        throw new IllegalArgumentException("GGUF has no number for " + type);
    }
}
