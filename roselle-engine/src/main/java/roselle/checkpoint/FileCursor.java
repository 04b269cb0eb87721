package roselle.checkpoint;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import roselle.api.CheckpointException;

/** Reads a mapped file's little-endian fields one after the other; what passes the end is a {@code CheckpointException}. */
final class FileCursor {
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final String file;
    private final MemorySegment data;
    private final long end;
    private long position;

    FileCursor(MappedFile file, long position) {
        this.file = file.name();
        this.data = file.data();
        this.end = data.byteSize();
        this.position = position;
        if (position < 0 || position > end) {
            throw new IllegalArgumentException("position " + position + " outside of " + file.name());
        }
    }

    long position() {
        return position;
    }

    long remaining() {
        return end - position;
    }

    /** The field that starts here. */
    FileField field(String name) {
        return new FileField(file, position, name);
    }

    byte int8(String field) {
        return data.get(ValueLayout.JAVA_BYTE, advance(1, field));
    }

    short int16(String field) {
        return data.get(SHORT, advance(2, field));
    }

    int int32(String field) {
        return data.get(INT, advance(4, field));
    }

    long int64(String field) {
        return data.get(LONG, advance(8, field));
    }

    /** An unsigned 32-bit size. */
    CheckedSize size32(String name) {
        FileField field = field(name);
        return CheckedSize.of(field, Integer.toUnsignedLong(int32(name)));
    }

    /** An unsigned 64-bit size. */
    CheckedSize size64(String name) {
        FileField field = field(name);
        return CheckedSize.of(field, int64(name));
    }

    /** A count of things that each take at least {@code bytesEach} of the bytes that follow it. */
    CheckedSize count(String name, long bytesEach, long limit) {
        CheckedSize count = size64(name).atMost(limit, "the limit of");
        if (count.value() > remaining() / bytesEach) {
            throw count.field()
                    .malformed(
                            count.value(),
                            "each takes " + bytesEach + " bytes or more, the file has " + remaining() + " left");
        }
        return count;
    }

    /** A string behind its 64-bit length; bytes that are not UTF-8 become U+FFFD. */
    String string(String name, long limit) {
        return new String(bytes(name, limit), StandardCharsets.UTF_8);
    }

    /** A string behind its 64-bit length, which must be UTF-8. */
    String strictString(String name, long limit) {
        FileField field = field(name);
        byte[] bytes = bytes(name, limit);
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException _) {
            throw field.malformed(new String(bytes, StandardCharsets.UTF_8), "not UTF-8");
        }
    }

    /** Passes over a string without making one. */
    void skipString(String name, long limit) {
        long length = stringLength(name, limit); // which moves the position itself
        position += length;
    }

    /** Passes over {@code count} values of {@code bytesEach} bytes. */
    void skip(CheckedSize count, int bytesEach) {
        advance(count.times(bytesEach).value(), count.field().name());
    }

    private byte[] bytes(String name, long limit) {
        int length = Math.toIntExact(stringLength(name, limit));
        byte[] bytes = data.asSlice(position, length).toArray(ValueLayout.JAVA_BYTE);
        position += length;
        return bytes;
    }

    private long stringLength(String name, long limit) {
        long start = position;
        long length = int64(name);
        if (length < 0 || length > limit || length > remaining()) {
            position = start;
            size64("length of " + name).atMost(limit, "the limit of").atMost(remaining(), "the bytes left,");
        }
        return length;
    }

    private long advance(long bytes, String field) {
        long start = position;
        if (bytes > end - start) {
            throw truncated(bytes, field);
        }
        position = start + bytes;
        return start;
    }

    private CheckpointException truncated(long bytes, String field) {
        return new CheckpointException(file + ": at byte " + position + ", " + FileField.excerpt(field) + " needs "
                + bytes + " bytes: the file ends at byte " + end);
    }
}
