package roselle.cpu.thread;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/**
 * Brings weights into the cache before a kernel reads them.
 *
 * <p>A kernel spends many instructions on a line of weights, so a processor that looks a few hundred instructions ahead has
 * few lines on their way at a time. A loop that only reads a byte of each line, one line after the other, has as many on
 * their way as the processor can count, and its fetcher follows it.
 */
public final class Touch {
    private static final int LINE = 64;

    private Touch() {}

    /** Reads a byte of each line of {@code bytes} bytes; the sum of what it read must be kept, or nothing is read. */
    public static int lines(MemorySegment segment, long from, long bytes) {
        int count = (int) (bytes / LINE);
        int a = segment.get(JAVA_BYTE, from + bytes - 1);
        int b = 0;
        int c = 0;
        int d = 0;
        int i = 0;
        for (; i < count - 3; i += 4) {
            long at = from + (long) i * LINE;
            a += segment.get(JAVA_BYTE, at);
            b += segment.get(JAVA_BYTE, at + LINE);
            c += segment.get(JAVA_BYTE, at + 2 * LINE);
            d += segment.get(JAVA_BYTE, at + 3 * LINE);
        }
        for (; i < count; i++) {
            a += segment.get(JAVA_BYTE, from + (long) i * LINE);
        }
        return a + b + c + d;
    }
}
