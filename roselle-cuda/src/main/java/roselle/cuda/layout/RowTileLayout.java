package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.StructLayout;

/** A tile of rows of one sequence, as attention to many rows takes it: CUDA's {@code int2}, the sequence and the first row. */
public final class RowTileLayout {
    static final StructLayout LAYOUT = CStruct.layout("int2", JAVA_INT.withName("x"), JAVA_INT.withName("y"));

    public static final CStruct.OfInt SEQUENCE = CStruct.ofInt(LAYOUT, "x");
    public static final CStruct.OfInt FIRST_ROW = CStruct.ofInt(LAYOUT, "y");

    public static final long BYTES = LAYOUT.byteSize();

    private RowTileLayout() {}
}
