package roselle.hub.text;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** A file's path in a repository: names with slashes between them, which stay inside whatever folder they are put in. */
public final class RepositoryPath {
    private static final int LONGEST = 1024;
    private static final int LONGEST_NAME = 255;
    private static final String UNRESERVED = "-._~";

    private RepositoryPath() {}

    /** Whether it names something inside a folder, on any system. */
    public static boolean isSafe(String path) {
        return path.length() <= LONGEST
                && path.codePoints().noneMatch(point -> Character.isISOControl(point) || point == '\\')
                && !isUnpaired(path)
                && areNames(path);
    }

    private static boolean areNames(String path) {
        int start = 0;
        for (int end = path.indexOf('/'); end >= 0; end = path.indexOf('/', start)) {
            if (!isName(path.substring(start, end))) {
                return false;
            }
            start = end + 1;
        }
        return isName(path.substring(start));
    }

    private static boolean isName(String name) {
        return !name.isEmpty()
                && !name.equals(".")
                && !name.equals("..")
                && name.getBytes(StandardCharsets.UTF_8).length <= LONGEST_NAME;
    }

    private static boolean isUnpaired(String path) {
        return path.codePoints()
                .anyMatch(point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
    }

    /** The last name. */
    public static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** As it stands in an address, its slashes kept. */
    public static String encoded(String path) {
        var encoded = new StringBuilder();
        for (byte each : path.getBytes(StandardCharsets.UTF_8)) {
            append(encoded, each);
        }
        return encoded.toString();
    }

    private static void append(StringBuilder encoded, byte each) {
        boolean isKept =
                each == '/' || (each > 0 && (Character.isLetterOrDigit(each) || UNRESERVED.indexOf(each) >= 0));
        if (isKept) {
            encoded.append((char) each);
        } else {
            encoded.append('%').append(HexFormat.of().withUpperCase().toHexDigits(each));
        }
    }
}
