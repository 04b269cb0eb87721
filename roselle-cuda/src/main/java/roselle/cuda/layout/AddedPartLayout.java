package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/** What an adapter adds to neighbouring outputs of a weight: {@code struct AddedPart} of {@code low_rank.cu}. */
public final class AddedPartLayout {
    public static final StructLayout LAYOUT = CStruct.layout(
            "AddedPart",
            JAVA_LONG.withName("shrink"),
            JAVA_LONG.withName("expand"),
            JAVA_INT.withName("firstOutput"),
            JAVA_INT.withName("outputs"),
            JAVA_INT.withName("firstRank"),
            JAVA_INT.withName("rank"),
            JAVA_INT.withName("stride"),
            JAVA_INT.withName("width"),
            JAVA_FLOAT.withName("scale"));

    public static final CStruct.OfLong SHRINK = CStruct.ofLong(LAYOUT, "shrink");
    public static final CStruct.OfLong EXPAND = CStruct.ofLong(LAYOUT, "expand");
    public static final CStruct.OfInt FIRST_OUTPUT = CStruct.ofInt(LAYOUT, "firstOutput");
    public static final CStruct.OfInt OUTPUTS = CStruct.ofInt(LAYOUT, "outputs");
    public static final CStruct.OfInt FIRST_RANK = CStruct.ofInt(LAYOUT, "firstRank");
    public static final CStruct.OfInt RANK = CStruct.ofInt(LAYOUT, "rank");
    public static final CStruct.OfInt STRIDE = CStruct.ofInt(LAYOUT, "stride");
    public static final CStruct.OfInt WIDTH = CStruct.ofInt(LAYOUT, "width");
    public static final CStruct.OfFloat SCALE = CStruct.ofFloat(LAYOUT, "scale");

    public static final long BYTES = LAYOUT.byteSize();

    private AddedPartLayout() {}
}
