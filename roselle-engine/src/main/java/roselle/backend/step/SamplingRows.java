package roselle.backend.step;

import java.util.Arrays;

/**
 * Rows of logits from which tokens are wanted and how each is to be sampled, as one struct of arrays of {@code [maxOutputs]}, reused
 * from step to step.
 *
 * <p>It is filled once for each step, from the sequences' plans, and both samplers read it: the host's and the device's, which give
 * the same tokens. The logits of a row are changed in this order: penalties for tokens said before, biases, mask, forbidden tokens;
 * then temperature, top-k, top-p, min-p and typical sampling narrow what may be sampled. What varies in length is referred to, not
 * copied; a device copies it, and has room for so many numbers in a step: rows beyond it are the host's.
 */
public final class SamplingRows {
    /** What {@link #topLogprobs} is where none are wanted. */
    public static final int NO_LOGPROBS = -1;

    /** A mask that allows every token. */
    public static final long[] ALL = {};

    public static final int[] NO_IDS = {};
    public static final float[] NO_BIASES = {};

    /** Rows whose logits come back for the host at most. */
    public static final int MAX_RETURNED = 8;

    private static final int MAX_ROOM = 1 << 20; // 4 MiB
    private static final int EXTRA_ROOM = 1 << 16; // for biases where contexts are short

    /** Who samples a row. */
    public enum Place {
        /** Nobody: its token is not wanted. */
        NOWHERE,
        DEVICE,
        HOST
    }

    /** Rows of the step; all begin as ones that nobody samples. */
    public int count;

    public final Place[] place;
    public final double[] temperature; // 0 for the likeliest token
    public final int[] topK; // 0 keeps all
    public final double[] topP; // 1 keeps all
    public final double[] minP; // 0 keeps all
    public final double[] typicalP; // 1 keeps all; no device samples with less
    public final long[] seed;
    /** Where the token will stand in its sequence. */
    public final int[] position;

    public final int[] topLogprobs;
    public final float[] repetition; // 1 for none
    public final float[] presence; // 0 for none
    public final float[] frequency; // 0 for none
    public final int[] penaltyWindow; // of the latest tokens, which alone a penalty sees
    public final boolean[] penalizesPrompt; // by the penalties for presence and frequency, too
    /** The tokens before the one to be sampled, {@link #position} of them, which count where {@link #hasPenalties}. */
    public final int[][] history;

    public final int[] promptLength; // of the history
    public final int[][] biasIds;
    public final float[][] biases; // one for each of biasIds
    public final int[][] forbidden; // ids
    /** Bit {@code t % 64} of word {@code t / 64} allows token {@code t}; {@link #ALL} allows all. */
    public final long[][] mask;

    /** Whether the logits of the host's rows, which are few, come back from the device with the tokens. */
    public boolean returnsLogits;

    private final int room;
    private int numbers; // of the rows that the device samples
    private int deviceRows;
    private int hostRows;

    /** Rows of steps within limits. */
    public SamplingRows(StepLimits limits) {
        this(limits.maxOutputs(), room(limits));
    }

    /** Up to so many rows, with so many numbers that vary in length on the device. */
    public SamplingRows(int maxOutputs, int room) {
        this.room = room;
        place = new Place[maxOutputs];
        temperature = new double[maxOutputs];
        topK = new int[maxOutputs];
        topP = new double[maxOutputs];
        minP = new double[maxOutputs];
        typicalP = new double[maxOutputs];
        seed = new long[maxOutputs];
        position = new int[maxOutputs];
        topLogprobs = new int[maxOutputs];
        repetition = new float[maxOutputs];
        presence = new float[maxOutputs];
        frequency = new float[maxOutputs];
        penaltyWindow = new int[maxOutputs];
        penalizesPrompt = new boolean[maxOutputs];
        history = new int[maxOutputs][];
        promptLength = new int[maxOutputs];
        biasIds = new int[maxOutputs][];
        biases = new float[maxOutputs][];
        forbidden = new int[maxOutputs][];
        mask = new long[maxOutputs][];
        begin(maxOutputs);
        clear();
    }

    /** Numbers of varying length that a device has room for in steps within limits. */
    public static int room(StepLimits limits) {
        return (int) Math.min(MAX_ROOM, (long) limits.maxOutputs() * limits.maxContext() + EXTRA_ROOM);
    }

    public int maxRows() {
        return place.length;
    }

    /** Numbers of varying length that there is room for on the device. */
    public int room() {
        return room;
    }

    /** Begins a step of so many rows, that nobody samples yet and that nothing changes. */
    public void begin(int rows) {
        clear();
        count = rows;
        Arrays.fill(temperature, 0, rows, 0);
        Arrays.fill(topK, 0, rows, 0);
        Arrays.fill(topP, 0, rows, 1);
        Arrays.fill(minP, 0, rows, 0);
        Arrays.fill(typicalP, 0, rows, 1);
        Arrays.fill(topLogprobs, 0, rows, NO_LOGPROBS);
        Arrays.fill(repetition, 0, rows, 1f);
        Arrays.fill(presence, 0, rows, 0f);
        Arrays.fill(frequency, 0, rows, 0f);
        Arrays.fill(penaltyWindow, 0, rows, Integer.MAX_VALUE);
        Arrays.fill(penalizesPrompt, 0, rows, false);
    }

    /** Forgets the rows and what they refer to. */
    public void clear() {
        int used = Math.max(count, 0);
        Arrays.fill(place, 0, used, Place.NOWHERE);
        Arrays.fill(history, 0, used, NO_IDS);
        Arrays.fill(biasIds, 0, used, NO_IDS);
        Arrays.fill(biases, 0, used, NO_BIASES);
        Arrays.fill(forbidden, 0, used, NO_IDS);
        Arrays.fill(mask, 0, used, ALL);
        count = 0;
        numbers = 0;
        deviceRows = 0;
        hostRows = 0;
        returnsLogits = false;
    }

    public boolean hasPenalties(int row) {
        return repetition[row] != 1f || presence[row] != 0f || frequency[row] != 0f;
    }

    /** The first token of the history that any penalty sees. */
    public int historyStart(int row) {
        return repetition[row] == 1f ? answerStart(row) : windowStart(row);
    }

    /** The first token that the penalties for presence and frequency see: of the answer, unless they see the prompt, too. */
    public int answerStart(int row) {
        int start = windowStart(row);
        return penalizesPrompt[row] ? start : Math.max(promptLength[row], start);
    }

    private int windowStart(int row) {
        return Math.max(0, position[row] - penaltyWindow[row]);
    }

    /** Lets the device sample a row, or the host where no device can, or where it has no room left. */
    public void settlePlace(int row) {
        long needed = numbers(row);
        if (typicalP[row] >= 1 && needed <= room - numbers) {
            place[row] = Place.DEVICE;
            numbers += (int) needed;
            deviceRows++;
        } else {
            leaveToHost(row);
        }
    }

    /** Lets the host sample a row. */
    public void leaveToHost(int row) {
        place[row] = Place.HOST;
        hostRows++;
    }

    /** Rows that the device samples. */
    public int deviceRows() {
        return deviceRows;
    }

    /** Rows that the host samples. */
    public int hostRows() {
        return hostRows;
    }

    /** Numbers of 32 bits that a device copies for a row, beside its mask, for which there is room in any case. */
    private long numbers(int row) {
        long seen = hasPenalties(row) ? position[row] - historyStart(row) : 0;
        return seen + 2L * biasIds[row].length + forbidden[row].length;
    }
}
