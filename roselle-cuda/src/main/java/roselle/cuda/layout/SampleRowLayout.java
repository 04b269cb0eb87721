package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.StructLayout;

/** What a row of logits is sampled with: {@code struct SampleRow} of {@code sample.cu}. */
public final class SampleRowLayout {
    static final StructLayout LAYOUT = CStruct.layout(
            "SampleRow",
            JAVA_DOUBLE.withName("temperature"),
            JAVA_DOUBLE.withName("topP"),
            JAVA_DOUBLE.withName("minP"),
            JAVA_LONG.withName("seed"),
            JAVA_LONG.withName("position"),
            JAVA_LONG.withName("history"),
            JAVA_LONG.withName("biasIds"),
            JAVA_LONG.withName("biases"),
            JAVA_LONG.withName("stopIds"),
            JAVA_LONG.withName("mask"),
            JAVA_INT.withName("topK"),
            JAVA_INT.withName("promptLength"),
            JAVA_INT.withName("historyLength"),
            JAVA_INT.withName("biasCount"),
            JAVA_INT.withName("stopCount"),
            JAVA_INT.withName("topLogprobs"),
            JAVA_INT.withName("appends"),
            JAVA_FLOAT.withName("repetition"),
            JAVA_FLOAT.withName("presence"),
            JAVA_FLOAT.withName("frequency"));

    public static final CStruct.OfDouble TEMPERATURE = CStruct.ofDouble(LAYOUT, "temperature");
    public static final CStruct.OfDouble TOP_P = CStruct.ofDouble(LAYOUT, "topP");
    public static final CStruct.OfDouble MIN_P = CStruct.ofDouble(LAYOUT, "minP");
    public static final CStruct.OfLong SEED = CStruct.ofLong(LAYOUT, "seed");
    public static final CStruct.OfLong POSITION = CStruct.ofLong(LAYOUT, "position");
    public static final CStruct.OfLong HISTORY = CStruct.ofLong(LAYOUT, "history");
    public static final CStruct.OfLong BIAS_IDS = CStruct.ofLong(LAYOUT, "biasIds");
    public static final CStruct.OfLong BIASES = CStruct.ofLong(LAYOUT, "biases");
    public static final CStruct.OfLong STOP_IDS = CStruct.ofLong(LAYOUT, "stopIds");
    public static final CStruct.OfLong MASK = CStruct.ofLong(LAYOUT, "mask");
    public static final CStruct.OfInt TOP_K = CStruct.ofInt(LAYOUT, "topK");
    public static final CStruct.OfInt PROMPT_LENGTH = CStruct.ofInt(LAYOUT, "promptLength");
    public static final CStruct.OfInt HISTORY_LENGTH = CStruct.ofInt(LAYOUT, "historyLength");
    public static final CStruct.OfInt BIAS_COUNT = CStruct.ofInt(LAYOUT, "biasCount");
    public static final CStruct.OfInt STOP_COUNT = CStruct.ofInt(LAYOUT, "stopCount");
    public static final CStruct.OfInt TOP_LOGPROBS = CStruct.ofInt(LAYOUT, "topLogprobs");
    public static final CStruct.OfFloat REPETITION = CStruct.ofFloat(LAYOUT, "repetition");
    public static final CStruct.OfFloat PRESENCE = CStruct.ofFloat(LAYOUT, "presence");
    public static final CStruct.OfFloat FREQUENCY = CStruct.ofFloat(LAYOUT, "frequency");

    public static final long BYTES = LAYOUT.byteSize();

    private SampleRowLayout() {}
}
