package roselle.tokenizer.normalizer;

import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Puts long runs of combining marks into Unicode's canonical order, which changes no normal form.
 *
 * <p>The JDK inserts each mark at its place by going back over all marks of a higher class, so that a run of n marks of two
 * classes by turns costs n² steps: a text of a million marks would take minutes. Marks that are in order already cost one
 * step each. A run is sorted here by the classes of its marks, which the JDK does not tell: of two marks that it swaps the
 * first has the higher class.
 */
final class MarkOrder {
    private static final int MAX_UNSORTED = 64; // code points of a run that are left to the JDK
    private static final char FIRST_MARK = 0x300;
    private static final String HIGHEST_CLASS = "\u0345"; // iota subscript alone has class 240

    private final Form decomposed;

    /** {@code decomposed} is the decomposition of the normal form that follows. */
    MarkOrder(Form decomposed) {
        this.decomposed = decomposed;
    }

    /** The text with its long runs of marks decomposed and in order; the text itself where it has none. */
    String ordered(String text) {
        StringBuilder result = null;
        int done = 0;
        for (int at = 0; at < text.length(); ) {
            int end = endOfRun(text, at);
            if (end - at > MAX_UNSORTED) {
                result = result == null ? new StringBuilder(text.length() + 16) : result;
                result.append(text, done, at);
                appendOrdered(text.substring(at, end), result);
                done = end;
            }
            at = end > at ? end : at + 1;
        }
        return result == null ? text : result.append(text, done, text.length()).toString();
    }

    private static int endOfRun(String text, int start) {
        int at = start;
        while (at < text.length() && text.charAt(at) >= FIRST_MARK) {
            int codePoint = text.codePointAt(at);
            if (!mayBeMark(codePoint)) {
                break;
            }
            at += Character.charCount(codePoint);
        }
        return at;
    }

    /** Whether a character may become one with a class: the halfwidth sound marks of kana are letters, all others marks. */
    private static boolean mayBeMark(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.COMBINING_SPACING_MARK -> true;
            default -> codePoint == 0xFF9E || codePoint == 0xFF9F;
        };
    }

    private void appendOrdered(String run, StringBuilder result) {
        Map<Integer, String> known = new HashMap<>();
        Map<Integer, Boolean> classed = new HashMap<>();
        var letters = new StringBuilder(run.length());
        run.codePoints()
                .forEach(codePoint -> letters.append(known.computeIfAbsent(
                        codePoint, mark -> Normalizer.normalize(Character.toString(mark), decomposed))));
        int[] marks = letters.codePoints().toArray();
        int start = 0;
        for (int at = 0; at <= marks.length; at++) {
            if (at == marks.length || !classed.computeIfAbsent(marks[at], MarkOrder::hasClass)) {
                appendSorted(Arrays.copyOfRange(marks, start, at), result);
                if (at < marks.length) {
                    result.appendCodePoint(marks[at]);
                }
                start = at + 1;
            }
        }
    }

    private static boolean hasClass(int mark) {
        return Character.toString(mark).equals(HIGHEST_CLASS) || isSwapped(HIGHEST_CLASS.charAt(0), mark);
    }

    private static boolean isSwapped(int first, int second) {
        String given = Character.toString(first) + Character.toString(second);
        return !Normalizer.normalize(given, Form.NFD).equals(given);
    }

    private static int compare(int left, int right) {
        return left == right ? 0 : isSwapped(left, right) ? 1 : isSwapped(right, left) ? -1 : 0;
    }

    private static void appendSorted(int[] marks, StringBuilder result) {
        List<Integer> distinct = new ArrayList<>();
        Arrays.stream(marks).distinct().forEach(distinct::add);
        distinct.sort(MarkOrder::compare);
        Map<Integer, Integer> ranks = new HashMap<>();
        for (int i = 0, rank = 0; i < distinct.size(); i++) {
            rank += i > 0 && compare(distinct.get(i - 1), distinct.get(i)) != 0 ? 1 : 0;
            ranks.put(distinct.get(i), rank);
        }
        long[] order = new long[marks.length]; // class, then place
        for (int i = 0; i < marks.length; i++) {
            order[i] = (long) ranks.getOrDefault(marks[i], 0) << 32 | i;
        }
        Arrays.sort(order);
        for (long mark : order) {
            result.appendCodePoint(marks[(int) mark]);
        }
    }
}
