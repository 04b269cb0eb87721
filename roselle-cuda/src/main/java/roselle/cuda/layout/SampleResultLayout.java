package roselle.cuda.layout;

import static java.lang.foreign.MemoryLayout.sequenceLayout;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.StructLayout;
import roselle.backend.step.SampledTokens;

/** What became of a row of logits: {@code struct SampleResult} of {@code sample.cu}. */
public final class SampleResultLayout {
    static final StructLayout LAYOUT = CStruct.layout(
            "SampleResult",
            JAVA_INT.withName("token"),
            JAVA_INT.withName("failure"),
            JAVA_FLOAT.withName("chosen"),
            JAVA_INT.withName("count"),
            sequenceLayout(SampledTokens.MAX_LOGPROBS, JAVA_INT).withName("ids"),
            sequenceLayout(SampledTokens.MAX_LOGPROBS, JAVA_FLOAT).withName("logprobs"));

    public static final CStruct.OfInt TOKEN = CStruct.ofInt(LAYOUT, "token");
    public static final CStruct.OfInt FAILURE = CStruct.ofInt(LAYOUT, "failure");
    public static final CStruct.OfFloat CHOSEN = CStruct.ofFloat(LAYOUT, "chosen");
    public static final CStruct.OfInt COUNT = CStruct.ofInt(LAYOUT, "count");
    public static final long IDS = CStruct.offset(LAYOUT, "ids");
    public static final long LOGPROBS = CStruct.offset(LAYOUT, "logprobs");

    public static final long BYTES = LAYOUT.byteSize();

    private SampleResultLayout() {}
}
