package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/** A norm as kernels are given it: {@code struct NormArguments} of {@code norms.cuh}. */
public final class NormArgumentsLayout {
    static final StructLayout LAYOUT = CStruct.layout(
            "NormArguments",
            JAVA_BOOLEAN.withName("takesMean"),
            JAVA_LONG.withName("weight"),
            JAVA_FLOAT.withName("weightOffset"),
            JAVA_LONG.withName("bias"),
            JAVA_FLOAT.withName("epsilon"));

    public static final CStruct.OfBoolean TAKES_MEAN = CStruct.ofBoolean(LAYOUT, "takesMean");
    public static final CStruct.OfLong WEIGHT = CStruct.ofLong(LAYOUT, "weight");
    public static final CStruct.OfFloat WEIGHT_OFFSET = CStruct.ofFloat(LAYOUT, "weightOffset");
    public static final CStruct.OfLong BIAS = CStruct.ofLong(LAYOUT, "bias");
    public static final CStruct.OfFloat EPSILON = CStruct.ofFloat(LAYOUT, "epsilon");

    private NormArgumentsLayout() {}
}
