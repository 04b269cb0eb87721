package roselle.checkpoint.gguf;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How one GGUF file's name places it among its siblings: {@code NAME-00002-of-00005.gguf}, or alone.
 *
 * @param file the file
 * @param prefix the name up to the numbers; empty for a file alone
 * @param number of this part, from 1
 * @param count of the parts
 */
public record GgufParts(Path file, String prefix, int number, int count) {
    private static final int DIGITS = 5;
    private static final String SUFFIX = "-00000-of-00000.gguf";

    public static GgufParts of(Path file) {
        return numbered(file).orElse(new GgufParts(file, "", 1, 1));
    }

    /** The file of part {@code index}, from 0. */
    Path part(int index) {
        if (count == 1) {
            return file;
        }
        return file.resolveSibling("%s-%05d-of-%05d.gguf".formatted(prefix, index + 1, count));
    }

    private static Optional<GgufParts> numbered(Path file) {
        String name = file.toAbsolutePath().getFileName().toString();
        int start = name.length() - SUFFIX.length();
        if (start <= 0 || !name.endsWith(".gguf") || !name.startsWith("-of-", start + 1 + DIGITS)) {
            return Optional.empty();
        }
        int number = digits(name, start + 1);
        int count = digits(name, start + 5 + DIGITS);
        boolean isPart = name.charAt(start) == '-' && number >= 1 && number <= count;
        return isPart ? Optional.of(new GgufParts(file, name.substring(0, start), number, count)) : Optional.empty();
    }

    /** The five decimal digits at {@code start}; -1 where others stand. */
    private static int digits(String name, int start) {
        int value = 0;
        for (int i = start; i < start + DIGITS; i++) {
            int digit = name.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            value = value * 10 + digit;
        }
        return value;
    }
}
