package roselle.cuda.layout;

import static java.lang.foreign.MemoryLayout.paddingLayout;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.MemoryLayout.unionLayout;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.StructLayout;

/** One attribute of a launch: {@code struct CUlaunchAttribute} of the driver, whose value begins at a multiple of 8 bytes. */
public final class LaunchAttributeLayout {
    public static final StructLayout LAYOUT = CStruct.layout(
            "CUlaunchAttribute",
            JAVA_INT.withName("id"),
            paddingLayout(4),
            unionLayout(
                            structLayout(JAVA_INT.withName("x"), JAVA_INT.withName("y"), JAVA_INT.withName("z"))
                                    .withName("clusterDim"),
                            JAVA_INT.withName("programmaticStreamSerializationAllowed"),
                            paddingLayout(64))
                    .withName("value"));

    public static final CStruct.OfInt ID = CStruct.ofInt(LAYOUT, "id");
    public static final CStruct.OfInt CLUSTER_X = CStruct.ofInt(LAYOUT, "value.clusterDim.x");
    public static final CStruct.OfInt CLUSTER_Y = CStruct.ofInt(LAYOUT, "value.clusterDim.y");
    public static final CStruct.OfInt CLUSTER_Z = CStruct.ofInt(LAYOUT, "value.clusterDim.z");
    public static final CStruct.OfInt MAY_OVERLAP =
            CStruct.ofInt(LAYOUT, "value.programmaticStreamSerializationAllowed");

    public static final long BYTES = LAYOUT.byteSize();

    private LaunchAttributeLayout() {}
}
