package roselle.grammar.mask;

import java.util.SplittableRandom;

/**
 * Random numbers for tokens: the sum of those of a set is known without going through a set that differs by few. They are others in
 * each process, so that nobody can look for two masks of one sum.
 */
final class TokenHash {
    private static final long SALT = new SplittableRandom().nextLong();

    private TokenHash() {}

    static long of(int token) {
        long mixed = (token + 1) * 0x9E3779B97F4A7C15L + SALT;
        mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }
}
