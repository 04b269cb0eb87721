package roselle.backend;

import java.util.Arrays;

/**
 * What changes rows of logits before a token is drawn from them: penalties for tokens said before, biases, forbidden tokens and
 * masks, in this order and as the host's sampler applies them.
 *
 * <p>Numbers of varying length lie one after the other in one array, which a device may copy as it is. There is room for so many;
 * what does not fit is refused and drawn by the host.
 */
public final class LogitChanges {
    /** What {@link #maskAt} is where every token is allowed. */
    public static final int NO_MASK = -1;

    private static final int MOST_ROOM = 1 << 20; // 4 MiB
    private static final int EXTRA_ROOM = 1 << 16; // for biases and masks where contexts are short

    /** Histories, ids, amounts and masks: {@link #length} of them. */
    public final int[] numbers;

    public int length;

    public final float[] repetition; // 1 for none
    public final float[] presence; // 0 for none
    public final float[] frequency; // 0 for none
    /** Tokens before the one to be drawn; of the prompt, then of the answer. */
    public final int[] historyAt;

    public final int[] historyLength;
    public final int[] promptLength;
    /** Ids, then as many amounts as the bits of floats. */
    public final int[] biasAt;

    public final int[] biasCount;
    /** Ids of tokens that must not come. */
    public final int[] stopAt;

    public final int[] stopCount;
    /** At an even place: bit {@code t % 32} of number {@code t / 32} allows token {@code t}. */
    public final int[] maskAt;

    LogitChanges(int maxOutputs, int room) {
        numbers = new int[room];
        repetition = new float[maxOutputs];
        presence = new float[maxOutputs];
        frequency = new float[maxOutputs];
        historyAt = new int[maxOutputs];
        historyLength = new int[maxOutputs];
        promptLength = new int[maxOutputs];
        biasAt = new int[maxOutputs];
        biasCount = new int[maxOutputs];
        stopAt = new int[maxOutputs];
        stopCount = new int[maxOutputs];
        maskAt = new int[maxOutputs];
        Arrays.fill(repetition, 1f);
        Arrays.fill(maskAt, NO_MASK);
    }

    /** Numbers that there is room for in the draws of steps within limits. */
    public static int room(StepLimits limits) {
        return (int) Math.min(MOST_ROOM, (long) limits.maxOutputs() * limits.maxContext() + EXTRA_ROOM);
    }

    /** Forgets the changes of all rows' numbers; each row must then be begun. */
    public void clear() {
        length = 0;
    }

    /** A row is not changed as yet. */
    public void begin(int row) {
        repetition[row] = 1f;
        presence[row] = 0f;
        frequency[row] = 0f;
        historyLength[row] = 0;
        promptLength[row] = 0;
        biasCount[row] = 0;
        stopCount[row] = 0;
        maskAt[row] = NO_MASK;
    }

    /** Whether anything of a row is changed. */
    public boolean changes(int row) {
        return punishes(row) || biasCount[row] > 0 || stopCount[row] > 0 || maskAt[row] != NO_MASK;
    }

    /** Whether a row has a penalty. */
    public boolean punishes(int row) {
        return repetition[row] != 1f || presence[row] != 0f || frequency[row] != 0f;
    }

    /** Tokens for the penalties of a row: {@code ids[0 .. count)}, the first {@code prompt} of which are the prompt. */
    public boolean remember(int row, int[] ids, int prompt, int count) {
        int first = repetition[row] == 1f ? prompt : 0; // the other penalties see the answer alone
        if (!fits(count - first)) {
            return false;
        }
        historyAt[row] = length;
        historyLength[row] = count - first;
        promptLength[row] = prompt - first;
        put(ids, first, count);
        return true;
    }

    public boolean bias(int row, int[] ids, float[] amounts) {
        if (!fits(2L * ids.length)) {
            return false;
        }
        biasAt[row] = length;
        biasCount[row] = ids.length;
        put(ids, 0, ids.length);
        for (float amount : amounts) {
            numbers[length++] = Float.floatToRawIntBits(amount);
        }
        return true;
    }

    public boolean forbid(int row, int[] ids) {
        if (!fits(ids.length)) {
            return false;
        }
        stopAt[row] = length;
        stopCount[row] = ids.length;
        put(ids, 0, ids.length);
        return true;
    }

    /** Allows the tokens {@code t} whose bit {@code t % 64} of word {@code t / 64} is set. */
    public boolean mask(int row, long[] words) {
        if (!fits(2L * words.length + 1)) {
            return false;
        }
        length += length % 2;
        maskAt[row] = length;
        for (long word : words) {
            numbers[length++] = (int) word;
            numbers[length++] = (int) (word >>> Integer.SIZE);
        }
        return true;
    }

    private boolean fits(long count) {
        return count <= numbers.length - length;
    }

    private void put(int[] ids, int from, int until) {
        System.arraycopy(ids, from, numbers, length, until - from);
        length += until - from;
    }
}
