package roselle.cpu.row;

import org.jspecify.annotations.Nullable;
import roselle.cpu.format.Unpacked;
import roselle.cpu.machine.row.RowKernels;
import roselle.cpu.vector.Lanes;

/** Numbers that one thread works on outside native memory, and what it remembers of the last rotation. */
final class Scratch {
    private final Angles angles = new Angles();
    private final RouteExperts experts = new RouteExperts(RouteExperts.VECTORS);
    private final float[] lanes = new float[Lanes.COUNT];
    private float[] x = new float[0];
    private float[] y = new float[0];
    private final Unpacked unpacked = new Unpacked();
    private final RowKernels.@Nullable Call code;
    private float[] room = new float[0];

    /** Without machine code. */
    Scratch() {
        this(null);
    }

    Scratch(RowKernels.@Nullable Call code) {
        this.code = code;
    }

    /** Makes room for rows of this many numbers. */
    void reserve(int columns) {
        int size = Lanes.padded(columns);
        if (x.length < size) {
            x = new float[size];
            y = new float[size];
        }
    }

    /** Room for so many numbers beside those of a row. */
    float[] room(int size) {
        if (room.length < size) {
            room = new float[size];
        }
        return room;
    }

    /** This thread's way to call machine code, where there is some. */
    RowKernels.@Nullable Call code() {
        return code;
    }

    Unpacked unpacked() {
        return unpacked;
    }

    Angles angles() {
        return angles;
    }

    RouteExperts experts() {
        return experts;
    }

    /** Room for one vector. */
    float[] lanes() {
        return lanes;
    }

    float[] x() {
        return x;
    }

    float[] y() {
        return y;
    }
}
