package roselle.checkpoint.gguf;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

/**
 * Makes the header of a GGUF file, version 3: keys, then tensors, which follow it in the order in which they were added.
 *
 * <p>Who writes the file pads each tensor to {@link #ALIGNMENT}.
 */
public final class GgufHeaderWriter {
    /** Of the header and of each tensor; the one that GGUF has unless a file says another. */
    public static final int ALIGNMENT = 32;

    private static final int VERSION = 3;

    private final ByteArrayOutputStream keys = new ByteArrayOutputStream();
    private final ByteArrayOutputStream infos = new ByteArrayOutputStream();
    private long keyCount;
    private long tensorCount;
    private long dataBytes;

    /** Adds all keys of another file but some, and but its alignment. */
    public GgufHeaderWriter copy(GgufMetadata source, Set<String> without) {
        for (String key : source.keys()) {
            if (!without.contains(key) && !key.equals("general.alignment")) {
                GgufEntry entry = source.entry(key);
                key(key, entry.isArray() ? GgufType.ARRAY : entry.type());
                if (entry.isArray()) {
                    arrayOf(entry.type(), entry.count());
                }
                keys.writeBytes(source.bytes(key).toArray(ValueLayout.JAVA_BYTE));
            }
        }
        return this;
    }

    public GgufHeaderWriter put(String key, String value) {
        key(key, GgufType.STRING);
        string(keys, value);
        return this;
    }

    /** An unsigned number of 32 bits. */
    public GgufHeaderWriter put(String key, int value) {
        key(key, GgufType.UINT32);
        integer(keys, value);
        return this;
    }

    /** A signed number of 32 bits. */
    public GgufHeaderWriter putSigned(String key, int value) {
        key(key, GgufType.INT32);
        integer(keys, value);
        return this;
    }

    public GgufHeaderWriter put(String key, float value) {
        key(key, GgufType.FLOAT32);
        integer(keys, Float.floatToRawIntBits(value));
        return this;
    }

    public GgufHeaderWriter put(String key, boolean value) {
        key(key, GgufType.BOOL);
        keys.write(value ? 1 : 0);
        return this;
    }

    public GgufHeaderWriter put(String key, List<String> values) {
        key(key, GgufType.ARRAY);
        arrayOf(GgufType.STRING, values.size());
        values.forEach(value -> string(keys, value));
        return this;
    }

    /** Signed numbers of 32 bits. */
    public GgufHeaderWriter put(String key, int[] values) {
        key(key, GgufType.ARRAY);
        arrayOf(GgufType.INT32, values.length);
        for (int value : values) {
            integer(keys, value);
        }
        return this;
    }

    public GgufHeaderWriter put(String key, float[] values) {
        key(key, GgufType.ARRAY);
        arrayOf(GgufType.FLOAT32, values.length);
        for (float value : values) {
            integer(keys, Float.floatToRawIntBits(value));
        }
        return this;
    }

    /** Adds a tensor and says how many bytes behind the header it begins. */
    public long tensor(String name, DataType type, Shape shape) {
        int number = type.ggufNumber()
                .orElseThrow(() -> new IllegalArgumentException("GGUF has no number for " + type.label()));
        string(infos, name);
        integer(infos, shape.rank());
        for (int axis = shape.rank() - 1; axis >= 0; axis--) {
            longInteger(infos, shape.extent(axis));
        }
        integer(infos, number);
        long offset = dataBytes;
        longInteger(infos, offset);
        tensorCount++;
        dataBytes = padded(offset + shape.rows() * type.rowBytes(shape.columns()));
        return offset;
    }

    /** The number and what it lacks to the alignment. */
    public static long padded(long bytes) {
        return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
    }

    /** The header with its padding. */
    public byte[] toBytes() {
        var header = new ByteArrayOutputStream();
        integer(header, GgufHeaderReader.MAGIC);
        integer(header, VERSION);
        longInteger(header, tensorCount);
        longInteger(header, keyCount);
        header.writeBytes(keys.toByteArray());
        header.writeBytes(infos.toByteArray());
        header.writeBytes(new byte[Math.toIntExact(padded(header.size()) - header.size())]);
        return header.toByteArray();
    }

    private void key(String key, GgufType type) {
        string(keys, key);
        integer(keys, type.number());
        keyCount++;
    }

    private void arrayOf(GgufType type, int count) {
        integer(keys, type.number());
        longInteger(keys, count);
    }

    private static void string(ByteArrayOutputStream target, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        longInteger(target, utf8.length);
        target.writeBytes(utf8);
    }

    private static void integer(ByteArrayOutputStream target, int value) {
        target.writeBytes(ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array());
    }

    private static void longInteger(ByteArrayOutputStream target, long value) {
        target.writeBytes(ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array());
    }
}
