package roselle.jinja.text;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/** Python's view of a string: a row of code points. */
public final class Text {
    private Text() {}

    public static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    /** The UTF-16 offset of a code point; the string's length for those past its end. */
    static int offset(String text, int codePoints) {
        if (codePoints >= text.length()) {
            return text.length();
        }
        return isPlain(text) ? codePoints : offsetOfPair(text, codePoints);
    }

    /** The code points from one place to another, as Python's slice without a step. */
    public static String slice(String text, int from, int to) {
        return from >= to ? "" : text.substring(offset(text, from), offset(text, to));
    }

    public static int compare(String left, String right) {
        int common = Math.min(left.length(), right.length());
        for (int i = 0; i < common; i++) {
            char first = left.charAt(i);
            char second = right.charAt(i);
            if (first != second) {
                // Surrogates stand for code points above all other units.
                boolean pairs = Character.isSurrogate(first) != Character.isSurrogate(second);
                return pairs ? (Character.isSurrogate(first) ? 1 : -1) : Character.compare(first, second);
            }
        }
        return Integer.compare(left.length(), right.length());
    }

    /** What Python's isspace accepts. */
    public static boolean isSpace(int codePoint) {
        if (codePoint < 128) {
            return codePoint == ' ' || (codePoint >= 9 && codePoint <= 13) || (codePoint >= 28 && codePoint <= 31);
        }
        return codePoint == 0x85 || Character.isSpaceChar(codePoint);
    }

    public static String strip(String text, IntPredicate unwanted) {
        return stripEnd(stripStart(text, unwanted), unwanted);
    }

    public static String stripStart(String text, IntPredicate unwanted) {
        int start = 0;
        while (start < text.length() && unwanted.test(text.codePointAt(start))) {
            start += Character.charCount(text.codePointAt(start));
        }
        return text.substring(start);
    }

    public static String stripEnd(String text, IntPredicate unwanted) {
        int end = text.length();
        while (end > 0 && unwanted.test(text.codePointBefore(end))) {
            end -= Character.charCount(text.codePointBefore(end));
        }
        return text.substring(0, end);
    }

    /** The lines, ended as Python's splitlines ends them. */
    public static List<Object> lines(String text, boolean keepEnds) {
        var lines = new ArrayList<>();
        int start = 0;
        int i = 0;
        while (i < text.length()) {
            if (!endsLine(text.charAt(i))) {
                i++;
                continue;
            }
            int end = i;
            i += text.startsWith("\r\n", i) ? 2 : 1;
            lines.add(text.substring(start, keepEnds ? i : end));
            start = i;
        }
        if (start < text.length()) {
            lines.add(text.substring(start));
        }
        return lines;
    }

    public static String capitalize(String text) {
        if (text.isEmpty()) {
            return text;
        }
        int first = Character.charCount(text.codePointAt(0));
        return title(text.substring(0, first)) + lower(text.substring(first));
    }

    public static String lower(String text) {
        return text.toLowerCase(java.util.Locale.ROOT);
    }

    public static String upper(String text) {
        return text.toUpperCase(java.util.Locale.ROOT);
    }

    /** One code point in title case; those without one, such as the sharp s, become upper case and then lower. */
    public static String title(String codePoint) {
        String upper = upper(codePoint);
        boolean grows = Text.length(upper) > 1;
        return grows
                ? upper.substring(0, 1) + lower(upper.substring(1))
                : Character.toString(Character.toTitleCase(codePoint.codePointAt(0)));
    }

    private static boolean endsLine(char unit) {
        return unit == '\n'
                || (unit >= 0x0b && unit <= '\r')
                || (unit >= 0x1c && unit <= 0x1e)
                || unit == 0x85
                || unit == 0x2028
                || unit == 0x2029;
    }

    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static int offsetOfPair(String text, int codePoints) {
        int offset = 0;
        for (int i = 0; i < codePoints && offset < text.length(); i++) {
            offset += Character.charCount(text.codePointAt(offset));
        }
        return offset;
    }
}
