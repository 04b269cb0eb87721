package roselle.cuda.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.cuda.driver.Matrix;
import roselle.cuda.layout.LaunchAttributeLayout;
import roselle.cuda.layout.LaunchConfigLayout;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.memory.Gpu;

/**
 * Starts kernels on the device's stream: {@code of(kernel)}, the parameters in order, then {@link #launch}. It allocates
 * nothing, and one launch is put together at a time.
 *
 * <p>Each kernel may begin while the one before it ends (programmatic dependent launch), because each of ours waits before it
 * reads what others wrote. After a copy or at the beginning of a step that is not so: {@link #barrier}.
 */
public final class Launcher {
    /** Blocks of a grid along y and z at most; what needs more of them is launched more than once. */
    public static final int MAX_BLOCKS = 65_535;

    public static final int WARP = 32;

    /** Bytes of the largest parameter, which is a tensor map. */
    public static final int SLOT = 128;

    private static final int MAX_PARAMETERS = 64;
    private static final int BOX_COLUMNS = 64;
    private static final int CLUSTER_DIMENSION = 4; // CU_LAUNCH_ATTRIBUTE
    private static final int PROGRAMMATIC_STREAM_SERIALIZATION = 6;
    private static final int MAX_ATTRIBUTES = 2;

    private final Gpu device;
    private final MemorySegment config;
    private final MemorySegment attributes;
    private final MemorySegment values;
    private final MemorySegment pointers;
    private @Nullable Kernel kernel;
    private int count;
    private int attributeCount;
    private int sharedBytes;
    private int cluster;
    private boolean mayOverlap;

    public Launcher(Gpu device, Arena arena) {
        this.device = device;
        config = arena.allocate(LaunchConfigLayout.LAYOUT);
        attributes = arena.allocate(LaunchAttributeLayout.LAYOUT, MAX_ATTRIBUTES);
        values = arena.allocate((long) MAX_PARAMETERS * SLOT, SLOT);
        pointers = arena.allocate((long) MAX_PARAMETERS * ADDRESS.byteSize(), 8);
        for (int i = 0; i < MAX_PARAMETERS; i++) {
            pointers.setAtIndex(ADDRESS, i, values.asSlice((long) i * SLOT));
        }
        LaunchConfigLayout.STREAM.set(config, device.stream());
        LaunchConfigLayout.ATTRIBUTES.set(config, attributes.address());
    }

    /** What was given to the stream before comes to its end before the next kernel begins. */
    public void barrier() {
        mayOverlap = false;
    }

    public Launcher of(Kernel next) {
        kernel = next;
        count = 0;
        sharedBytes = 0;
        cluster = 1;
        return this;
    }

    public Launcher pointer(long address) {
        values.set(JAVA_LONG, (long) count++ * SLOT, address);
        return this;
    }

    public Launcher pointer(@Nullable Buffer buffer) {
        return pointer(buffer == null ? 0 : CudaBuffer.address(buffer));
    }

    /** A view's address and its stride. */
    public Launcher rows(Rows rows) {
        return pointer(CudaBuffer.address(rows)).wide(rows.stride());
    }

    public Launcher wide(long value) {
        values.set(JAVA_LONG, (long) count++ * SLOT, value);
        return this;
    }

    public Launcher integer(int value) {
        values.set(JAVA_INT, (long) count++ * SLOT, value);
        return this;
    }

    public Launcher flag(boolean value) {
        return integer(value ? 1 : 0);
    }

    public Launcher number(float value) {
        values.set(JAVA_FLOAT, (long) count++ * SLOT, value);
        return this;
    }

    /** The first rows of a view as the copy engine reads them. */
    public Launcher matrix(Rows rows, int count, int boxRows) {
        return matrix(rows, count, boxRows, BOX_COLUMNS);
    }

    /** The first rows of a view as the copy engine reads or stores them, in boxes of 32 or 64 columns. */
    public Launcher matrix(Rows rows, int count, int boxRows, int boxColumns) {
        long rowBytes = rows.stride() * (long) Short.BYTES;
        var matrix = new Matrix(CudaBuffer.address(rows), count, rows.columns(), rowBytes);
        device.driver().encodeTensorMap(struct(), matrix, boxRows, boxColumns);
        return this;
    }

    /** A matrix that the copy engine reads in boxes, which are 64 columns wide. */
    public Launcher matrix(Matrix matrix, int boxRows) {
        device.driver().encodeTensorMap(struct(), matrix, boxRows, BOX_COLUMNS);
        return this;
    }

    /** The memory of a parameter that is a struct, {@link #SLOT} bytes at most, to be filled by the caller. */
    public MemorySegment struct() {
        return values.asSlice((long) count++ * SLOT, SLOT);
    }

    /** Dynamic shared memory of a block. */
    public Launcher shared(int bytes) {
        sharedBytes = bytes;
        return this;
    }

    /** Blocks along x that form a cluster. */
    public Launcher cluster(int blocks) {
        cluster = blocks;
        return this;
    }

    public void launch(long gridX, int gridY, int gridZ, int threads) {
        if (kernel == null) {
            throw new IllegalStateException("no kernel to launch");
        }
        kernel.allow(device, sharedBytes);
        attributeCount = 0;
        if (cluster > 1) {
            MemorySegment attribute = attribute(CLUSTER_DIMENSION);
            LaunchAttributeLayout.CLUSTER_X.set(attribute, cluster);
            LaunchAttributeLayout.CLUSTER_Y.set(attribute, 1);
            LaunchAttributeLayout.CLUSTER_Z.set(attribute, 1);
        }
        if (mayOverlap) {
            LaunchAttributeLayout.MAY_OVERLAP.set(attribute(PROGRAMMATIC_STREAM_SERIALIZATION), 1);
        }
        LaunchConfigLayout.GRID_X.set(config, Math.toIntExact(gridX));
        LaunchConfigLayout.GRID_Y.set(config, gridY);
        LaunchConfigLayout.GRID_Z.set(config, gridZ);
        LaunchConfigLayout.BLOCK_X.set(config, threads);
        LaunchConfigLayout.BLOCK_Y.set(config, 1);
        LaunchConfigLayout.BLOCK_Z.set(config, 1);
        LaunchConfigLayout.SHARED_BYTES.set(config, sharedBytes);
        LaunchConfigLayout.ATTRIBUTE_COUNT.set(config, attributeCount);
        device.driver().launch(config, kernel.function(), pointers);
        mayOverlap = true;
        kernel = null;
    }

    private MemorySegment attribute(int id) {
        MemorySegment attribute =
                attributes.asSlice(attributeCount * LaunchAttributeLayout.BYTES, LaunchAttributeLayout.BYTES);
        LaunchAttributeLayout.ID.set(attribute, id);
        attributeCount++;
        return attribute;
    }

    /** How many blocks of {@code size} cover {@code count}. */
    public static int cover(long count, int size) {
        return Math.toIntExact((count + size - 1) / size);
    }
}
