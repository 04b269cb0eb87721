package roselle.tokenizer.normalizer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import roselle.api.CheckpointException;

/**
 * SentencePiece's precompiled character map: prefixes of UTF-8 text and what replaces them.
 *
 * <p>The blob is a length in bytes (32 bits), a Darts double-array trie of that length, and replacements that end in a
 * zero byte. A unit of the trie holds a label in bits 0-7, "has a leaf" in bit 8 and the offset to its children in bits
 * 10-30, shifted left by 8 where bit 9 is set; the value of a leaf is where its replacement begins. Nothing in the blob
 * is trusted: an offset outside the trie is a prefix without children.
 */
public final class CharacterMap {
    private static final int MAX_REPLACEMENT_BYTES = 1024;
    private static final long NO_MATCH = -1;
    private static final int LABEL = 1 << 31 | 0xFF;

    private final int[] units;
    private final byte[] replacements;

    private CharacterMap(int[] units, byte[] replacements) {
        this.units = units;
        this.replacements = replacements;
    }

    /** Reads a blob; {@code origin} says where it comes from. */
    public static CharacterMap read(byte[] blob, String origin) {
        ByteBuffer buffer = ByteBuffer.wrap(blob).order(ByteOrder.LITTLE_ENDIAN);
        if (blob.length < 4) {
            throw new CheckpointException(
                    origin + ": the precompiled character map has " + blob.length + " bytes, at least 4 are needed");
        }
        long trieBytes = Integer.toUnsignedLong(buffer.getInt());
        if (trieBytes % 4 != 0 || trieBytes > buffer.remaining()) {
            throw new CheckpointException(origin + ": the precompiled character map announces a trie of " + trieBytes
                    + " bytes, which is no multiple of 4 or more than the " + buffer.remaining()
                    + " bytes that follow");
        }
        int[] units = new int[(int) trieBytes / 4];
        buffer.asIntBuffer().get(units);
        byte[] replacements = new byte[buffer.remaining() - (int) trieBytes];
        buffer.get(4 + (int) trieBytes, replacements);
        checkReplacements(replacements, origin);
        return new CharacterMap(units, replacements);
    }

    /** A replacement stands for a few characters: one of a megabyte would make a long text of each short one. */
    private static void checkReplacements(byte[] replacements, String origin) {
        int start = 0;
        for (int at = 0; at < replacements.length; at++) {
            if (replacements[at] == 0) {
                start = at + 1;
            } else if (at - start == MAX_REPLACEMENT_BYTES) {
                throw new CheckpointException(origin + ": the precompiled character map has a replacement of more than "
                        + MAX_REPLACEMENT_BYTES + " bytes, at byte " + start + " of its replacements");
            }
        }
    }

    /** The match of the most bytes at the beginning of {@code utf8[from, to)}; see {@link #isMatch}. */
    long longest(byte[] utf8, int from, int to) {
        return match(utf8, from, to, true);
    }

    /** The match of the fewest bytes at the beginning of {@code utf8[from, to)}; see {@link #isMatch}. */
    long shortest(byte[] utf8, int from, int to) {
        return match(utf8, from, to, false);
    }

    static boolean isMatch(long match) {
        return match != NO_MATCH;
    }

    /** How many bytes a match covers. */
    static int length(long match) {
        return (int) (match >>> 32);
    }

    private long match(byte[] utf8, int from, int to, boolean longest) {
        long found = NO_MATCH;
        int node = units.length == 0 ? 0 : childOffset(units[0]);
        for (int at = from; at < to && utf8[at] != 0; at++) {
            node ^= utf8[at] & 0xFF;
            if (node < 0 || node >= units.length || (units[node] & LABEL) != (utf8[at] & 0xFF)) {
                break;
            }
            int unit = units[node];
            node ^= childOffset(unit);
            if ((unit >>> 8 & 1) == 1 && node >= 0 && node < units.length) {
                found = (long) (at + 1 - from) << 32 | (units[node] & Integer.MAX_VALUE);
                if (!longest) {
                    break;
                }
            }
        }
        return found;
    }

    private static int childOffset(int unit) {
        return (unit >>> 10) << ((unit & 1 << 9) >>> 6);
    }

    /** What replaces the bytes of a match. */
    String replacement(long match) {
        int start = Math.min((int) match, replacements.length);
        int end = start;
        while (end < replacements.length && replacements[end] != 0) {
            end++;
        }
        return new String(replacements, start, end - start, StandardCharsets.UTF_8);
    }
}
