package roselle.tokenizer.unicode;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A set of code points as sorted, disjoint ranges. */
public final class CodePointSet {
    private final int[] firsts;
    private final int[] lasts;

    private CodePointSet(int[] firsts, int[] lasts) {
        this.firsts = firsts;
        this.lasts = lasts;
    }

    /** Reads ranges in ascending order, hexadecimal, separated by white space: {@code "7fd 897-89f"}. */
    public static CodePointSet parse(String ranges) {
        List<int[]> parsed = new ArrayList<>();
        int at = 0;
        while (at < ranges.length()) {
            int end = at;
            while (end < ranges.length() && ranges.charAt(end) > ' ') {
                end++;
            }
            if (end > at) {
                parsed.add(range(ranges.substring(at, end)));
            }
            at = end + 1;
        }
        int[] firsts = new int[parsed.size()];
        int[] lasts = new int[parsed.size()];
        for (int i = 0; i < firsts.length; i++) {
            firsts[i] = parsed.get(i)[0];
            lasts[i] = parsed.get(i)[1];
        }
        return new CodePointSet(firsts, lasts);
    }

    private static int[] range(String text) {
        int dash = text.indexOf('-');
        int first = Integer.parseInt(dash < 0 ? text : text.substring(0, dash), 16);
        return new int[] {first, dash < 0 ? first : Integer.parseInt(text.substring(dash + 1), 16)};
    }

    public boolean contains(int codePoint) {
        if (codePoint < firsts[0]) {
            return false;
        }
        int at = Arrays.binarySearch(firsts, codePoint);
        return at >= 0 || codePoint <= lasts[-at - 2];
    }
}
