package roselle.checkpoint;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Small random damage to files, the same for the same seed. */
final class Mutations {
    private static final long[] EXTREMES = {
        0,
        1,
        -1,
        127,
        128,
        255,
        65_535,
        Integer.MAX_VALUE,
        0xFFFFFFFFL,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        1L << 32,
        1L << 61
    };

    private final Random random;
    private final List<byte[]> seeds;

    Mutations(long seed, List<byte[]> seeds) {
        this.random = new Random(seed);
        this.seeds = seeds;
    }

    /** One of the files with one to four damages. */
    byte[] next() {
        byte[] file = seeds.get(random.nextInt(seeds.size())).clone();
        int damages = 1 + random.nextInt(4);
        for (int i = 0; i < damages && file.length > 0; i++) {
            file = damaged(file);
        }
        return file;
    }

    private byte[] damaged(byte[] file) {
        int at = random.nextInt(file.length);
        switch (random.nextInt(6)) {
            case 0 -> file[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> file[at] = (byte) random.nextInt();
            case 2 -> putExtreme(file, at);
            case 3 -> {
                return spliced(file, at, at, file);
            }
            case 4 -> {
                return spliced(file, at, Math.min(file.length, at + 1 + random.nextInt(16)), new byte[0]);
            }
            default -> {
                return spliced(file, at, at, seeds.get(random.nextInt(seeds.size())));
            }
        }
        return file;
    }

    private void putExtreme(byte[] file, int at) {
        long value = EXTREMES[random.nextInt(EXTREMES.length)];
        int bytes = 1 << random.nextInt(4);
        for (int i = 0; i < bytes && at + i < file.length; i++) {
            file[at + i] = (byte) (value >> (8 * i));
        }
    }

    /** {@code file} with the bytes from {@code start} until {@code end} replaced by a random piece of {@code donor}. */
    private byte[] spliced(byte[] file, int start, int end, byte[] donor) {
        int from = donor.length == 0 ? 0 : random.nextInt(donor.length);
        int length = donor.length == 0 ? 0 : Math.min(random.nextInt(24), donor.length - from);
        byte[] result = Arrays.copyOf(file, file.length - (end - start) + length);
        System.arraycopy(donor, from, result, start, length);
        System.arraycopy(file, end, result, start + length, file.length - end);
        return result;
    }
}
