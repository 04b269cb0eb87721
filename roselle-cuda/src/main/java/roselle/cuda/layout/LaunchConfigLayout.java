package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/** How many blocks and threads a kernel is started with: {@code struct CUlaunchConfig} of the driver. */
public final class LaunchConfigLayout {
    public static final StructLayout LAYOUT = CStruct.layout(
            "CUlaunchConfig",
            JAVA_INT.withName("gridDimX"),
            JAVA_INT.withName("gridDimY"),
            JAVA_INT.withName("gridDimZ"),
            JAVA_INT.withName("blockDimX"),
            JAVA_INT.withName("blockDimY"),
            JAVA_INT.withName("blockDimZ"),
            JAVA_INT.withName("sharedMemBytes"),
            JAVA_LONG.withName("hStream"),
            JAVA_LONG.withName("attrs"),
            JAVA_INT.withName("numAttrs"));

    public static final CStruct.OfInt GRID_X = CStruct.ofInt(LAYOUT, "gridDimX");
    public static final CStruct.OfInt GRID_Y = CStruct.ofInt(LAYOUT, "gridDimY");
    public static final CStruct.OfInt GRID_Z = CStruct.ofInt(LAYOUT, "gridDimZ");
    public static final CStruct.OfInt BLOCK_X = CStruct.ofInt(LAYOUT, "blockDimX");
    public static final CStruct.OfInt BLOCK_Y = CStruct.ofInt(LAYOUT, "blockDimY");
    public static final CStruct.OfInt BLOCK_Z = CStruct.ofInt(LAYOUT, "blockDimZ");
    public static final CStruct.OfInt SHARED_BYTES = CStruct.ofInt(LAYOUT, "sharedMemBytes");
    public static final CStruct.OfLong STREAM = CStruct.ofLong(LAYOUT, "hStream");
    public static final CStruct.OfLong ATTRIBUTES = CStruct.ofLong(LAYOUT, "attrs");
    public static final CStruct.OfInt ATTRIBUTE_COUNT = CStruct.ofInt(LAYOUT, "numAttrs");

    private LaunchConfigLayout() {}
}
