package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/** Consecutive rows of a weight that have one type: {@code struct WeightBlock} of {@code blocks.cuh}. */
public final class WeightBlockLayout {
    public static final StructLayout LAYOUT = CStruct.layout(
            "WeightBlock",
            JAVA_LONG.withName("data"),
            JAVA_LONG.withName("rowBytes"),
            JAVA_INT.withName("firstRow"),
            JAVA_INT.withName("type"));

    public static final CStruct.OfLong DATA = CStruct.ofLong(LAYOUT, "data");
    public static final CStruct.OfLong ROW_BYTES = CStruct.ofLong(LAYOUT, "rowBytes");
    public static final CStruct.OfInt FIRST_ROW = CStruct.ofInt(LAYOUT, "firstRow");
    public static final CStruct.OfInt TYPE = CStruct.ofInt(LAYOUT, "type");

    public static final long BYTES = LAYOUT.byteSize();

    private WeightBlockLayout() {}
}
