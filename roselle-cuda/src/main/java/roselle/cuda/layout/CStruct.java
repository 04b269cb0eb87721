package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Structs that the host shares with kernels or the driver: laid out as C does, members found by name and accessed by their type.
 *
 * <p>A layout has the struct's and the members' names as the kernels have them; KernelAbiTest holds both declarations to each
 * other with the kernels' compiler. Pointers are {@code long}: they are addresses of device memory.
 *
 * <p>Members are records of an offset and not VarHandles, which would quietly widen an {@code int} that is written to a member
 * of 64 bits.
 */
public final class CStruct {
    private CStruct() {}

    /** Members in order, each at the next multiple of its alignment; the size is a multiple of the largest. */
    static StructLayout layout(String name, MemoryLayout... members) {
        List<MemoryLayout> elements = new ArrayList<>();
        long end = 0;
        long alignment = 1;
        for (MemoryLayout member : members) {
            end = pad(elements, end, member.byteAlignment());
            elements.add(member);
            end += member.byteSize();
            alignment = Math.max(alignment, member.byteAlignment());
        }
        pad(elements, end, alignment);
        return MemoryLayout.structLayout(elements.toArray(MemoryLayout[]::new)).withName(name);
    }

    private static long pad(List<MemoryLayout> elements, long end, long alignment) {
        long aligned = (end + alignment - 1) / alignment * alignment;
        if (aligned > end) {
            elements.add(MemoryLayout.paddingLayout(aligned - end));
        }
        return aligned;
    }

    /** Where a member begins; its path has the names of members of members, between dots. */
    static long offset(StructLayout layout, String path) {
        return layout.byteOffset(elements(path));
    }

    private static PathElement[] elements(String path) {
        return Arrays.stream(path.split("\\.")).map(PathElement::groupElement).toArray(PathElement[]::new);
    }

    private static long offset(StructLayout layout, String path, ValueLayout type) {
        MemoryLayout member = layout.select(elements(path));
        if (!member.withoutName().equals(type)) {
            throw new IllegalArgumentException(
                    layout.name().orElse("a struct") + "'s " + path + " is " + member + ", not " + type);
        }
        return offset(layout, path);
    }

    static OfBoolean ofBoolean(StructLayout layout, String path) {
        return new OfBoolean(offset(layout, path, JAVA_BOOLEAN));
    }

    static OfInt ofInt(StructLayout layout, String path) {
        return new OfInt(offset(layout, path, JAVA_INT));
    }

    static OfLong ofLong(StructLayout layout, String path) {
        return new OfLong(offset(layout, path, JAVA_LONG));
    }

    static OfFloat ofFloat(StructLayout layout, String path) {
        return new OfFloat(offset(layout, path, JAVA_FLOAT));
    }

    static OfDouble ofDouble(StructLayout layout, String path) {
        return new OfDouble(offset(layout, path, JAVA_DOUBLE));
    }

    /** A member of type {@code bool}. */
    public record OfBoolean(long offset) {
        public void set(MemorySegment struct, boolean value) {
            struct.set(JAVA_BOOLEAN, offset, value);
        }
    }

    /** A member of 32 bits. */
    public record OfInt(long offset) {
        public void set(MemorySegment struct, int value) {
            struct.set(JAVA_INT, offset, value);
        }

        /** Sets the member of a struct that begins within a segment. */
        public void set(MemorySegment structs, long begin, int value) {
            structs.set(JAVA_INT, begin + offset, value);
        }

        public int of(MemorySegment struct) {
            return struct.get(JAVA_INT, offset);
        }
    }

    /** A member of 64 bits: a number or a pointer. */
    public record OfLong(long offset) {
        public void set(MemorySegment struct, long value) {
            struct.set(JAVA_LONG, offset, value);
        }

        /** Sets the member of a struct that begins within a segment. */
        public void set(MemorySegment structs, long begin, long value) {
            structs.set(JAVA_LONG, begin + offset, value);
        }

        public long of(MemorySegment struct) {
            return struct.get(JAVA_LONG, offset);
        }
    }

    /** A member of type {@code float}. */
    public record OfFloat(long offset) {
        public void set(MemorySegment struct, float value) {
            struct.set(JAVA_FLOAT, offset, value);
        }

        /** Sets the member of a struct that begins within a segment. */
        public void set(MemorySegment structs, long begin, float value) {
            structs.set(JAVA_FLOAT, begin + offset, value);
        }

        public float of(MemorySegment struct) {
            return struct.get(JAVA_FLOAT, offset);
        }
    }

    /** A member of type {@code double}. */
    public record OfDouble(long offset) {
        /** Sets the member of a struct that begins within a segment. */
        public void set(MemorySegment structs, long begin, double value) {
            structs.set(JAVA_DOUBLE, begin + offset, value);
        }

        public double of(MemorySegment struct) {
            return struct.get(JAVA_DOUBLE, offset);
        }
    }
}
