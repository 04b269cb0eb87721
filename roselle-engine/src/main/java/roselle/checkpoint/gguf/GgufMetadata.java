package roselle.checkpoint.gguf;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.file.CheckedSize;
import roselle.checkpoint.file.FileCursor;
import roselle.checkpoint.file.FileField;
import roselle.checkpoint.file.MappedFile;

/** A GGUF file's key-value pairs, each read from the mapping when asked for. */
public final class GgufMetadata implements Metadata {
    private final MappedFile file;
    private final SequencedMap<String, GgufEntry> entries;

    GgufMetadata(MappedFile file, SequencedMap<String, GgufEntry> entries) {
        this.file = file;
        this.entries = entries;
    }

    /** The keys of a header; {@code origin} names in messages what it was made of. */
    public static GgufMetadata of(Path origin, MemorySegment header) {
        var file = new MappedFile(origin, header);
        return new GgufMetadata(file, GgufHeaderReader.read(file).metadata());
    }

    @Override
    public Set<String> keys() {
        return Collections.unmodifiableSet(entries.keySet());
    }

    @Override
    public boolean has(String key) {
        return entries.containsKey(key);
    }

    @Override
    public boolean isOff(String key) {
        return !has(key);
    }

    @Override
    public String string(String key) {
        GgufEntry entry = scalar(key, "a string");
        if (entry.type() != GgufType.STRING) {
            throw wrong(key, entry, "a string");
        }
        return at(entry).string(key, Integer.MAX_VALUE);
    }

    @Override
    public String string(String key, String fallback) {
        return has(key) ? string(key) : fallback;
    }

    @Override
    public int integer(String key) {
        long value = longInteger(key);
        return (int) inRange(key, value);
    }

    @Override
    public int integer(String key, int fallback) {
        return has(key) ? integer(key) : fallback;
    }

    @Override
    public long longInteger(String key) {
        GgufEntry entry = scalar(key, "an integer");
        if (!entry.type().isInteger()) {
            throw wrong(key, entry, "an integer");
        }
        return readInteger(at(entry), entry.type(), key);
    }

    @Override
    public double number(String key) {
        GgufEntry entry = scalar(key, "a number");
        if (!entry.type().isNumber()) {
            throw wrong(key, entry, "a number");
        }
        return readNumber(at(entry), entry.type(), key);
    }

    @Override
    public double number(String key, double fallback) {
        return has(key) ? number(key) : fallback;
    }

    @Override
    public boolean flag(String key, boolean fallback) {
        if (!has(key)) {
            return fallback;
        }
        GgufEntry entry = scalar(key, "a flag");
        if (entry.type() != GgufType.BOOL) {
            throw wrong(key, entry, "a flag");
        }
        return readFlag(at(entry), key);
    }

    @Override
    public List<String> strings(String key) {
        GgufEntry entry = entry(key);
        if (entry.type() != GgufType.STRING) {
            throw wrong(key, entry, "an array of strings");
        }
        FileCursor cursor = at(entry);
        List<String> strings = new ArrayList<>(entry.count());
        for (int i = 0; i < entry.count(); i++) {
            strings.add(cursor.string(key, Integer.MAX_VALUE));
        }
        return Collections.unmodifiableList(strings);
    }

    @Override
    public int[] integers(String key) {
        GgufEntry entry = entry(key);
        if (!entry.type().isInteger()) {
            throw wrong(key, entry, "an array of integers");
        }
        FileCursor cursor = at(entry);
        int[] integers = new int[entry.count()];
        for (int i = 0; i < integers.length; i++) {
            integers[i] = (int) inRange(key, readInteger(cursor, entry.type(), key));
        }
        return integers;
    }

    @Override
    public float[] numbers(String key) {
        GgufEntry entry = entry(key);
        if (!entry.type().isNumber()) {
            throw wrong(key, entry, "an array of numbers");
        }
        FileCursor cursor = at(entry);
        float[] numbers = new float[entry.count()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (float) readNumber(cursor, entry.type(), key);
        }
        return numbers;
    }

    @Override
    public boolean[] flags(String key) {
        GgufEntry entry = entry(key);
        if (entry.type() != GgufType.BOOL) {
            throw wrong(key, entry, "an array of flags");
        }
        FileCursor cursor = at(entry);
        boolean[] flags = new boolean[entry.count()];
        for (int i = 0; i < flags.length; i++) {
            flags[i] = readFlag(cursor, key);
        }
        return flags;
    }

    /** How many values a key holds, without reading them. */
    public int count(String key) {
        return entry(key).count();
    }

    /** The bytes that a key's value takes, as the file has them. */
    MemorySegment bytes(String key) {
        GgufEntry entry = entry(key);
        FileCursor cursor = at(entry);
        if (entry.type() == GgufType.STRING) {
            cursor.skipStrings(key, entry.count(), Integer.MAX_VALUE);
        } else {
            cursor.skip(
                    CheckedSize.of(cursor.field(key), entry.count()),
                    entry.type().bytes());
        }
        return file.data().asSlice(entry.offset(), cursor.position() - entry.offset());
    }

    @Override
    public boolean isFlag(String key) {
        if (!has(key)) {
            return false;
        }
        GgufEntry entry = entry(key);
        return entry.type() == GgufType.BOOL && !entry.isArray();
    }

    @Override
    public Optional<Metadata> object(String key) {
        return Optional.empty();
    }

    @Override
    public String origin() {
        return file.name();
    }

    GgufEntry entry(String key) {
        GgufEntry entry = entries.get(key);
        if (entry == null) {
            throw new CheckpointException(file.name() + " has no metadata key " + FileField.excerpt(key));
        }
        return entry;
    }

    private GgufEntry scalar(String key, String expected) {
        GgufEntry entry = entry(key);
        if (entry.isArray()) {
            throw wrong(key, entry, expected);
        }
        return entry;
    }

    private FileCursor at(GgufEntry entry) {
        return new FileCursor(file, entry.offset());
    }

    private static long readInteger(FileCursor cursor, GgufType type, String key) {
        return switch (type) {
            case UINT8 -> Byte.toUnsignedLong(cursor.int8(key));
            case INT8 -> cursor.int8(key);
            case UINT16 -> Short.toUnsignedLong(cursor.int16(key));
            case INT16 -> cursor.int16(key);
            case UINT32 -> cursor.size32(key).value();
            case INT32 -> cursor.int32(key);
            case UINT64 -> cursor.size64(key).value();
            case INT64 -> cursor.int64(key);
            case FLOAT32, FLOAT64, BOOL, STRING, ARRAY -> throw new IllegalArgumentException(type + " is no integer");
        };
    }

    private static double readNumber(FileCursor cursor, GgufType type, String key) {
        return switch (type) {
            case FLOAT32 -> Float.intBitsToFloat(cursor.int32(key));
            case FLOAT64 -> Double.longBitsToDouble(cursor.int64(key));
            case UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64, BOOL, STRING, ARRAY ->
                readInteger(cursor, type, key);
        };
    }

    private static boolean readFlag(FileCursor cursor, String key) {
        FileField field = cursor.field(key);
        byte value = cursor.int8(key);
        if (value != 0 && value != 1) {
            throw field.malformed(value, "a flag is 0 or 1");
        }
        return value == 1;
    }

    private long inRange(String key, long value) {
        if (value != (int) value) {
            throw new CheckpointException(
                    file.name() + ": " + FileField.excerpt(key) + " is " + value + ", which exceeds 32 bits");
        }
        return value;
    }

    private CheckpointException wrong(String key, GgufEntry entry, String expected) {
        return new CheckpointException(file.name() + ": at byte " + entry.offset() + ", " + FileField.excerpt(key)
                + " is " + entry.describe() + ", not " + expected);
    }
}
