package roselle.checkpoint.file;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads the little-endian fields at the beginning of a mapped file one after the other; what passes the end is a
 * {@code CheckpointException}.
 *
 * <p>It reads through a buffer and composes names only in messages, because opening is what a cold JVM does first: the
 * access handles of segments and the concatenation of strings each cost it tens of milliseconds.
 */
public final class FileCursor {
    /** What a header, its vocabulary included, may take at most. */
    private static final int LONGEST_HEADER = 1 << 30;

    private final String file;
    private final ByteBuffer data;
    private final int end;
    private int position;
    private String subject = "";

    public FileCursor(MappedFile file, long position) {
        MemorySegment segment = file.data();
        this.file = file.name();
        this.end = (int) Math.min(segment.byteSize(), LONGEST_HEADER);
        this.data = segment.asSlice(0, end).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        if (position < 0 || position > end) {
            throw new IllegalArgumentException("position " + position + " outside of " + file.name());
        }
        this.position = (int) position;
    }

    /** Says what the fields from here on belong to: the name of a tensor or a key, or nothing. */
    public void enter(String newSubject) {
        subject = newSubject;
    }

    public long position() {
        return position;
    }

    /** Bytes between here and the end. */
    public int remaining() {
        return end - position;
    }

    /** The field that starts here. */
    public FileField field(String name) {
        return new FileField(file, position, name, subject);
    }

    public byte int8(String field) {
        return data.get(advance(1, field));
    }

    public short int16(String field) {
        return data.getShort(advance(2, field));
    }

    public int int32(String field) {
        return data.getInt(advance(4, field));
    }

    public long int64(String field) {
        return data.getLong(advance(8, field));
    }

    /** An unsigned 32-bit size. */
    public CheckedSize size32(String name) {
        FileField field = field(name);
        return CheckedSize.of(field, Integer.toUnsignedLong(int32(name)));
    }

    /** An unsigned 64-bit size. */
    public CheckedSize size64(String name) {
        FileField field = field(name);
        return CheckedSize.of(field, int64(name));
    }

    /** A count of things that each take at least {@code bytesEach} of the bytes that follow it. */
    public CheckedSize count(String name, long bytesEach, long limit) {
        return enough(size64(name).atMost(limit, "the limit of"), bytesEach);
    }

    /** The count if as many things of at least {@code bytesEach} bytes can follow from here. */
    public CheckedSize enough(CheckedSize count, long bytesEach) {
        if (count.value() > remaining() / bytesEach) {
            throw count.field()
                    .malformed(
                            count.value(),
                            "each takes " + bytesEach + " bytes or more, " + remaining() + " are left in the file");
        }
        return count;
    }

    /** A string behind its 64-bit length; bytes that are not UTF-8 become U+FFFD. */
    public String string(String name, long limit) {
        return new String(bytes(name, limit), StandardCharsets.UTF_8);
    }

    /** A string behind its 64-bit length, which must be UTF-8. */
    public String strictString(String name, long limit) {
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

    /** Passes over strings without making one. */
    public void skipStrings(String name, long count, long limit) {
        for (long i = 0; i < count; i++) {
            int length = stringLength(name, limit); // which moves the position itself
            position += length;
        }
    }

    /** Passes over {@code count} values of {@code bytesEach} bytes. */
    public void skip(CheckedSize count, int bytesEach) {
        advance(count.times(bytesEach).value(), count.field().name());
    }

    private byte[] bytes(String name, long limit) {
        byte[] bytes = new byte[stringLength(name, limit)];
        data.get(position, bytes);
        position += bytes.length;
        return bytes;
    }

    private int stringLength(String name, long limit) {
        int start = position;
        long length = int64(name);
        if (length < 0 || length > limit || length > end - position) {
            position = start;
            size64("length of " + name)
                    .atMost(limit, "the limit of")
                    .atMost(end - position, "the bytes that follow it,");
        }
        return (int) length;
    }

    private int advance(long bytes, String field) {
        int start = position;
        if (bytes > end - start) {
            throw field(field).truncated(bytes, end, end == LONGEST_HEADER);
        }
        position = start + (int) bytes;
        return start;
    }
}
