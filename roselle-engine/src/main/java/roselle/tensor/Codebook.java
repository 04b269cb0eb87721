package roselle.tensor;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/**
 * Vectors that codes of several numbers stand for: points of a lattice which ggml chose by what models' weights need, so that
 * nothing computes them. {@code codebooks.bin} has them all, a few bits for each number; {@code tools/formats/codebooks.py}
 * writes it.
 */
final class Codebook {
    private static final byte[] PACKED = packed();
    private static final int[] SMALL = {0x08, 0x19, 0x2b};

    static final Codebook IQ2_XXS = new Codebook(0, 256, 8, SMALL);
    static final Codebook IQ2_XS = new Codebook(512, 512, 8, SMALL);
    static final Codebook IQ2_S = new Codebook(1536, 1024, 8, SMALL);
    static final Codebook IQ3_XXS = new Codebook(3584, 256, 4, 0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c, 0x34, 0x3e);
    static final Codebook IQ3_S = new Codebook(4096, 512, 4, 0x01, 0x03, 0x05, 0x07, 0x09, 0x0b, 0x0d, 0x0f);
    static final Codebook IQ1 = new Codebook(5120, 2048, 8, -1, 0, 1);

    private final byte[] numbers; // [vectors, length]
    private final int length;

    /** So many vectors, packed from a byte on as places in a list of what a number may be. */
    private Codebook(int at, int vectors, int length, int... values) {
        this.length = length;
        numbers = new byte[vectors * length];
        int bits = values.length > 4 ? 4 : 2;
        int perByte = Byte.SIZE / bits;
        for (int i = 0; i < numbers.length; i++) {
            int place = (PACKED[at + i / perByte] >> (i % perByte * bits)) & ((1 << bits) - 1);
            numbers[i] = (byte) values[place];
        }
    }

    private static byte[] packed() {
        try (InputStream bytes = Codebook.class.getResourceAsStream("codebooks.bin")) {
            return Objects.requireNonNull(bytes, "codebooks.bin").readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Numbers of a vector. */
    int length() {
        return length;
    }

    /** A number of a vector. */
    int at(int vector, int index) {
        return numbers[vector * length + index];
    }
}
