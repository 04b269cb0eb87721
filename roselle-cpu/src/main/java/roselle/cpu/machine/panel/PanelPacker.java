package roselle.cpu.machine.panel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;

/**
 * Puts rows of a checkpoint into panels. One thread's own; Java alone reads the checkpoint, whose file may shrink.
 *
 * <p>Nothing is rounded but float32 and float16 that go to bfloat16.
 */
public final class PanelPacker {
    private static final long LOW_NIBBLES = 0x0F0F0F0F0F0F0F0FL;
    private static final long EVEN_BYTES = 0x000F000F000F000FL;
    private static final long ODD_BYTES = 0x0F000F000F000F00L;

    private final Panel panel;
    private final DataType type;
    private final int columns;
    private final byte[] bytes = new byte[512];
    private final byte[] codes = new byte[256];
    private final float[] numbers;

    /** A packer for rows of so many columns. */
    public PanelPacker(Panel panel, DataType type, int columns) {
        this.panel = panel;
        this.type = type;
        this.columns = columns;
        numbers = new float[panel.isPaired() || panel == Panel.FLOAT16 || panel == Panel.FLOAT32 ? columns : 0];
    }

    /** Writes a panel from {@code rows} rows, at most {@link Panel#OUTPUTS}; the target holds zeros. */
    public void pack(MemorySegment source, long from, int rows, MemorySegment target, long to) {
        long rowBytes = type.rowBytes(columns);
        switch (panel) {
            case BYTE -> bytes(source, from, rows, rowBytes, target, to);
            case NIBBLE -> nibbles(source, from, rows, rowBytes, target, to);
            case NIBBLE_WITH_MINIMUM -> minima(source, from, rows, rowBytes, target, to);
            case SIX_BITS -> sixBits(source, from, rows, rowBytes, target, to);
            case BFLOAT16, FLOAT16, FLOAT32 -> plain(source, from, rows, rowBytes, target, to);
        }
    }

    private void bytes(MemorySegment source, long from, int rows, long rowBytes, MemorySegment target, long to) {
        int blocks = panel.units(columns);
        for (int b = 0; b < blocks; b++) {
            java.util.Arrays.fill(bytes, (byte) 0);
            for (int o = 0; o < rows; o++) {
                long at = from + o * rowBytes + b * 34L;
                scale(source, at, target, to + panel.scalesAt(columns) + b * 32L, o);
                for (int i = 0; i < 4; i++) {
                    long eight = source.get(JAVA_LONG_UNALIGNED, at + 2 + i * 8L);
                    int first = i * 128 + o;
                    bytes[first] = (byte) eight;
                    bytes[first + 16] = (byte) (eight >> 8);
                    bytes[first + 32] = (byte) (eight >> 16);
                    bytes[first + 48] = (byte) (eight >> 24);
                    bytes[first + 64] = (byte) (eight >> 32);
                    bytes[first + 80] = (byte) (eight >> 40);
                    bytes[first + 96] = (byte) (eight >> 48);
                    bytes[first + 112] = (byte) (eight >> 56);
                }
            }
            MemorySegment.copy(bytes, 0, target, JAVA_BYTE, to + b * 512L, 512);
        }
    }

    private static void scale(MemorySegment source, long at, MemorySegment target, long to, int output) {
        target.set(JAVA_SHORT, to + 2L * output, source.get(JAVA_SHORT_UNALIGNED, at));
    }

    private void nibbles(MemorySegment source, long from, int rows, long rowBytes, MemorySegment target, long to) {
        int blocks = panel.units(columns);
        for (int b = 0; b < blocks; b++) {
            for (int o = 0; o < rows; o++) {
                long at = from + o * rowBytes + b * 18L;
                scale(source, at, target, to + panel.scalesAt(columns) + b * 32L, o);
                long lane = to + b * 256L + 4L * o;
                for (int i = 0; i < 2; i++) {
                    long eight = source.get(JAVA_LONG_UNALIGNED, at + 2 + 8L * i);
                    target.set(JAVA_INT, lane + 64L * i, paired(eight));
                    target.set(JAVA_INT, lane + 64L * (i + 2), paired(eight >>> 4));
                }
            }
        }
    }

    /** The lower nibbles of eight bytes: those of the even bytes, then those of the odd ones. */
    private static int paired(long eight) {
        long nibbles = eight & LOW_NIBBLES;
        return (int) (Long.compress(nibbles, EVEN_BYTES) | Long.compress(nibbles, ODD_BYTES) << 16);
    }

    private void minima(MemorySegment source, long from, int rows, long rowBytes, MemorySegment target, long to) {
        int units = panel.units(columns);
        for (int u = 0; u < units; u++) {
            long scales = to + panel.scalesAt(columns) + (long) u * panel.scaleBytes;
            long minima = to + panel.minimaAt(columns) + (long) u * panel.minimumBytes;
            for (int o = 0; o < rows; o++) {
                long at = from + o * rowBytes + u * 144L;
                scale(source, at, target, scales, o);
                scale(source, at + 2, target, minima, o);
                for (int b = 0; b < 8; b++) {
                    target.set(JAVA_BYTE, scales + 32 + b * 16L + o, (byte) scaleOf(source, at + 4, b));
                    target.set(JAVA_BYTE, minima + 32 + b * 16L + o, (byte) minimumOf(source, at + 4, b));
                }
                long lane = to + (long) u * panel.codeBytes + 4L * o;
                for (int i = 0; i < 16; i++) {
                    long eight = source.get(JAVA_LONG_UNALIGNED, at + 16 + 8L * i);
                    long place = lane + i / 4 * 512L + i % 4 * 64L;
                    target.set(JAVA_INT, place, paired(eight));
                    target.set(JAVA_INT, place + 256, paired(eight >>> 4));
                }
            }
        }
    }

    /** Six bits for each of eight scales and eight minima in twelve bytes, as ggml packs them. */
    private static int scaleOf(MemorySegment source, long at, int block) {
        return block < 4
                ? source.get(JAVA_BYTE, at + block) & 63
                : (source.get(JAVA_BYTE, at + block + 4) & 15) | (source.get(JAVA_BYTE, at + block - 4) & 0xC0) >> 2;
    }

    private static int minimumOf(MemorySegment source, long at, int block) {
        return block < 4
                ? source.get(JAVA_BYTE, at + block + 4) & 63
                : (source.get(JAVA_BYTE, at + block + 4) & 0xF0) >> 4 | (source.get(JAVA_BYTE, at + block) & 0xC0) >> 2;
    }

    private void sixBits(MemorySegment source, long from, int rows, long rowBytes, MemorySegment target, long to) {
        int units = panel.units(columns);
        for (int u = 0; u < units; u++) {
            long scales = to + panel.scalesAt(columns) + (long) u * panel.scaleBytes;
            for (int o = 0; o < rows; o++) {
                long at = from + o * rowBytes + u * 210L;
                scale(source, at + 208, target, scales, o);
                for (int b = 0; b < 16; b++) {
                    target.set(JAVA_BYTE, scales + 32 + b * 16L + o, source.get(JAVA_BYTE, at + 192 + b));
                }
                codes(source, at);
                for (int b = 0; b < 16; b++) {
                    long lane = to + (long) u * panel.codeBytes + b * 192L + 4L * o;
                    words(b * 16, target, lane, 0);
                    words(b * 16 + 1, target, lane, 2);
                }
            }
        }
    }

    /** The 256 codes of a super-block, in the order of k, as ggml packs them. */
    private void codes(MemorySegment source, long at) {
        for (int half = 0; half < 2; half++) {
            for (int i = 0; i < 32; i++) {
                int low = source.get(JAVA_BYTE, at + half * 64L + i);
                int next = source.get(JAVA_BYTE, at + half * 64L + 32 + i);
                int high = source.get(JAVA_BYTE, at + 128 + half * 32L + i);
                int to = half * 128 + i;
                codes[to] = (byte) ((low & 15) | (high & 3) << 4);
                codes[to + 32] = (byte) ((next & 15) | (high & 12) << 2);
                codes[to + 64] = (byte) ((low & 0xF0) >> 4 | (high & 0x30));
                codes[to + 96] = (byte) ((next & 0xF0) >> 4 | (high & 0xC0) >> 2);
            }
        }
    }

    /** Three words with every other one of sixteen codes. */
    private void words(int k, MemorySegment target, long lane, int half) {
        int w2 = codes[k + 4];
        int w5 = codes[k + 10];
        int a = codes[k] | codes[k + 2] << 6 | w2 << 12;
        int b = codes[k + 6] | codes[k + 8] << 6 | w5 << 12;
        int c = codes[k + 12] | codes[k + 14] << 6 | (w2 & 0x30) << 8 | (w5 & 0x30) << 10;
        target.set(JAVA_SHORT, lane + half, (short) a);
        target.set(JAVA_SHORT, lane + 64 + half, (short) b);
        target.set(JAVA_SHORT, lane + 128 + half, (short) c);
    }

    private void plain(MemorySegment source, long from, int rows, long rowBytes, MemorySegment target, long to) {
        for (int o = 0; o < rows; o++) {
            long at = from + o * rowBytes;
            if (panel == Panel.BFLOAT16 && type == DataType.BF16) {
                for (int k = 0; k < columns; k++) {
                    target.set(JAVA_SHORT, pairAt(to, o, k), source.get(JAVA_SHORT_UNALIGNED, at + 2L * k));
                }
            } else if (panel == Panel.FLOAT16 && type == DataType.F16) {
                for (int k = 0; k < columns; k++) {
                    target.set(JAVA_SHORT, to + k * 32L + o * 2L, source.get(JAVA_SHORT_UNALIGNED, at + 2L * k));
                }
            } else {
                numbers(source, at, target, to, o);
            }
        }
    }

    private void numbers(MemorySegment source, long at, MemorySegment target, long to, int output) {
        Dequantizer.of(type).dequantize(source, at, numbers, 0, columns);
        for (int k = 0; k < columns; k++) {
            if (panel == Panel.BFLOAT16) {
                target.set(JAVA_SHORT, pairAt(to, output, k), BrainFloat.of(numbers[k]));
            } else {
                target.set(JAVA_FLOAT, to + k * 64L + output * 4L, numbers[k]);
            }
        }
    }

    private static long pairAt(long to, int output, int k) {
        return to + k / 2 * 64L + output * 4L + k % 2 * 2L;
    }
}
