package roselle.cpu.attention;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The positions of the highest of many scores, of equal ones the first, by a heap whose root is the one that goes next. */
final class HighestScores {
    private int[] heap = new int[0]; // positions

    /** Writes the positions of the {@code most} highest of {@code count} scores, ascending, from an index on. */
    void write(float[] scores, int count, int most, MemorySegment target, long at) {
        find(scores, count, most);
        MemorySegment.copy(heap, 0, target, JAVA_INT, at * Integer.BYTES, most);
    }

    /** The position of one of those that were found, which ascend. */
    int found(int index) {
        return heap[index];
    }

    /** Finds the {@code most} highest of {@code count} scores. */
    void find(float[] scores, int count, int most) {
        if (heap.length < most) {
            heap = new int[most];
        }
        for (int p = 0; p < most; p++) {
            heap[p] = p;
        }
        for (int i = most / 2 - 1; i >= 0; i--) {
            sink(scores, i, most);
        }
        for (int p = most; p < count; p++) {
            if (scores[p] > scores[heap[0]]) { // an equal one comes later, and stays out
                heap[0] = p;
                sink(scores, 0, most);
            }
        }
        Arrays.sort(heap, 0, most);
    }

    private void sink(float[] scores, int from, int size) {
        int i = from;
        int position = heap[i];
        while (2 * i + 1 < size) {
            int child = 2 * i + 1;
            if (child + 1 < size && goesBefore(scores, heap[child + 1], heap[child])) {
                child++;
            }
            if (!goesBefore(scores, heap[child], position)) {
                break;
            }
            heap[i] = heap[child];
            i = child;
        }
        heap[i] = position;
    }

    /** Whether a position is given up before another: its score is lower, or equal and it lies behind. */
    private static boolean goesBefore(float[] scores, int one, int other) {
        return scores[one] < scores[other] || (scores[one] == scores[other] && one > other);
    }
}
