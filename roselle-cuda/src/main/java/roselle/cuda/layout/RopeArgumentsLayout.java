package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/** A rotation as kernels are given it: {@code struct RopeArguments} of {@code heads.cuh}. */
public final class RopeArgumentsLayout {
    static final StructLayout LAYOUT = CStruct.layout(
            "RopeArguments",
            JAVA_LONG.withName("inverseFrequencies"),
            JAVA_INT.withName("pairs"),
            JAVA_FLOAT.withName("factor"),
            JAVA_INT.withName("interleaved"));

    public static final CStruct.OfLong INVERSE_FREQUENCIES = CStruct.ofLong(LAYOUT, "inverseFrequencies");
    public static final CStruct.OfInt PAIRS = CStruct.ofInt(LAYOUT, "pairs");
    public static final CStruct.OfFloat FACTOR = CStruct.ofFloat(LAYOUT, "factor");
    public static final CStruct.OfInt INTERLEAVED = CStruct.ofInt(LAYOUT, "interleaved");

    private RopeArgumentsLayout() {}
}
