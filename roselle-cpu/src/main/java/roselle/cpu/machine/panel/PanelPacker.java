package roselle.cpu.machine.panel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import roselle.tensor.BlockFactor;
import roselle.tensor.BlockFields;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.PackedNumbers;

/**
 * Puts rows of a checkpoint into panels. One thread's own; Java alone reads the checkpoint, whose file may shrink.
 *
 * <p>Nothing is rounded but float32 and float16 that go to bfloat16.
 */
public final class PanelPacker {
    private static final long LOW_NIBBLES = 0x0F0F0F0F0F0F0F0FL;
    private static final long EVEN_BYTES = 0x000F000F000F000FL;
    private static final long ODD_BYTES = 0x0F000F000F000F00L;
    private static final int STEP = 32; // numbers of k whose two parts are apart in a panel of split ones
    private static final int STEP_BYTES = STEP * Panel.OUTPUTS * Short.BYTES;
    private static final int SIGN = 0x8000; // of float16
    private static final int FACTORS_AT = Panel.OUTPUTS * Short.BYTES;

    private final Panel panel;
    private final DataType type;
    private final int columns;
    private final long[] eights; // the codes of a block, eight to a word
    private final long[] parts; // the small factors of a block, the same
    private final byte[] bytes; // the codes of a unit, [unit][OUTPUTS]
    private final float[] numbers;

    /** A packer for rows of so many columns. */
    public PanelPacker(Panel panel, DataType type, int columns) {
        this.panel = panel;
        this.type = type;
        this.columns = columns;
        eights = new long[panel.hasScales() ? panel.unit() / Long.BYTES : 0];
        parts = new long[(panel.blocks() + Long.BYTES - 1) / Long.BYTES];
        bytes = new byte[panel.codes() == Panel.Codes.BYTES ? panel.codeBytes() : 0];
        numbers = new float[panel.hasScales() ? 0 : columns];
    }

    /** Writes a panel from {@code rows} rows, at most {@link Panel#OUTPUTS}; the target holds zeros. */
    public void pack(MemorySegment source, long from, int rows, MemorySegment target, long to) {
        long rowBytes = type.rowBytes(columns);
        if (panel.hasScales()) {
            blocks(type.fields().orElseThrow(), source, from, rows, rowBytes, target, to);
        } else {
            plain(source, from, rows, rowBytes, target, to);
        }
    }

    /** A block of the checkpoint is an output's part of a unit. */
    private void blocks(
            BlockFields fields,
            MemorySegment source,
            long from,
            int rows,
            long rowBytes,
            MemorySegment target,
            long to) {
        int units = panel.units(columns);
        for (int u = 0; u < units; u++) {
            long codes = to + (long) u * panel.codeBytes();
            long scales = to + panel.scalesAt(columns) + (long) u * panel.scaleBytes();
            long minima = to + panel.minimaAt(columns) + (long) u * panel.minimumBytes();
            Arrays.fill(bytes, (byte) 0);
            for (int o = 0; o < rows; o++) {
                long block = from + o * rowBytes + (long) u * type.blockBytes();
                fields.codes().unpack(source, block, eights);
                codes(target, codes, o);
                factors(fields.scale(), source, block, 0, target, scales, o);
                BlockFactor minimum = fields.minimum();
                if (minimum != null) {
                    factors(minimum, source, block, fields.isAdded() ? SIGN : 0, target, minima, o);
                }
            }
            for (int o = rows; o < Panel.OUTPUTS && fields.isAdded(); o++) {
                target.set(JAVA_SHORT, minima + 2L * o, (short)
                        SIGN); // what becomes of the zeros of rows that are missing
            }
            MemorySegment.copy(bytes, 0, target, JAVA_BYTE, codes, bytes.length);
        }
    }

    private void codes(MemorySegment target, long to, int output) {
        switch (panel.codes()) {
            case BYTES -> bytes(output);
            case NIBBLES, PLAIN_NIBBLES -> nibbles(target, to + 4L * output);
            case SIX_BITS -> sixBits(target, to + 4L * output);
            case BFLOAT16, SPLIT, FLOAT16, FLOAT32 -> throw new IllegalStateException("no scales");
        }
    }

    private void bytes(int output) {
        for (int i = 0; i < eights.length; i++) {
            long eight = eights[i];
            int first = i * Long.BYTES * Panel.OUTPUTS + output;
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

    private void nibbles(MemorySegment target, long lane) {
        for (int i = 0; i < eights.length; i++) {
            target.set(JAVA_INT, lane + 64L * i, paired(eights[i]));
        }
    }

    /** The lower nibbles of eight bytes: those of the even bytes, then those of the odd ones. */
    private static int paired(long eight) {
        long nibbles = eight & LOW_NIBBLES;
        return (int) (Long.compress(nibbles, EVEN_BYTES) | Long.compress(nibbles, ODD_BYTES) << 16);
    }

    private void sixBits(MemorySegment target, long lane) {
        for (int i = 0; i < eights.length; i += 2) {
            words(eights[i], eights[i + 1], target, lane + i / 2 * 192L);
            words(eights[i] >>> 8, eights[i + 1] >>> 8, target, lane + i / 2 * 192L + 2);
        }
    }

    /** Three words with every other one of sixteen codes. */
    private static void words(long first, long second, MemorySegment target, long to) {
        int w2 = (int) six(first, 32);
        int w5 = (int) six(second, 16);
        long a = six(first, 0) | six(first, 16) << 6 | (long) w2 << 12;
        long b = six(first, 48) | six(second, 0) << 6 | (long) w5 << 12;
        long c = six(second, 32) | six(second, 48) << 6 | (w2 & 0x30L) << 8 | (w5 & 0x30L) << 10;
        target.set(JAVA_SHORT, to, (short) a);
        target.set(JAVA_SHORT, to + 64, (short) b);
        target.set(JAVA_SHORT, to + 128, (short) c);
    }

    private static long six(long codes, int shift) {
        return (codes >>> shift) & 0x3F;
    }

    /** A float16 number, with bits of it turned, and the small ones that multiply it. */
    private void factors(
            BlockFactor factor,
            MemorySegment source,
            long block,
            int turned,
            MemorySegment target,
            long to,
            int output) {
        short whole = source.get(JAVA_SHORT_UNALIGNED, block + factor.at());
        target.set(JAVA_SHORT, to + 2L * output, (short) (whole ^ turned));
        PackedNumbers small = factor.parts();
        if (small == null) {
            return;
        }
        small.unpack(source, block, parts);
        for (int b = 0; b < panel.blocks(); b++) {
            int code = (int) (parts[b / 8] >>> (b % 8 * 8)) & 0xFF;
            target.set(JAVA_BYTE, to + FACTORS_AT + 16L * b + output, (byte)
                    small.values().of(code));
        }
    }

    private void plain(MemorySegment source, long from, int rows, long rowBytes, MemorySegment target, long to) {
        for (int o = 0; o < rows; o++) {
            long at = from + o * rowBytes;
            if (panel.equals(Panel.BFLOAT16) && type == DataType.BF16) {
                for (int k = 0; k < columns; k++) {
                    target.set(JAVA_SHORT, pairAt(to, o, k), source.get(JAVA_SHORT_UNALIGNED, at + 2L * k));
                }
            } else if (panel.equals(Panel.FLOAT16) && type == DataType.F16) {
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
            if (panel.equals(Panel.BFLOAT16)) {
                target.set(JAVA_SHORT, pairAt(to, output, k), BrainFloat.of(numbers[k]));
            } else if (panel.equals(Panel.SPLIT)) {
                long step = to + k / STEP * 2L * STEP_BYTES;
                target.set(JAVA_SHORT, pairAt(step, output, k % STEP), BrainFloat.of(numbers[k]));
                target.set(JAVA_SHORT, pairAt(step + STEP_BYTES, output, k % STEP), BrainFloat.rest(numbers[k]));
            } else {
                target.set(JAVA_FLOAT, to + k * 64L + output * 4L, numbers[k]);
            }
        }
    }

    private static long pairAt(long to, int output, int k) {
        return to + k / 2 * 64L + output * 4L + k % 2 * 2L;
    }
}
