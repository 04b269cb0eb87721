package roselle.grammar.regex;

import java.util.Arrays;

/** Where a language goes with each code point: ranges from one start to the next, and the language behind each. */
@SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
record Steps(int[] starts, Language[] targets) {
    static Steps all(Language target) {
        return new Steps(new int[] {0}, new Language[] {target});
    }

    Language at(int codePoint) {
        if (targets.length == 1) {
            return targets[0];
        }
        int found = Arrays.binarySearch(starts, codePoint);
        return targets[found >= 0 ? found : -found - 2];
    }

    /** The index of the range that a code point is in. */
    int indexOf(int codePoint) {
        int found = Arrays.binarySearch(starts, codePoint);
        return found >= 0 ? found : -found - 2;
    }

    /** The last code point of a range. */
    int last(int index) {
        return index + 1 < starts.length ? starts[index + 1] - 1 : CodePoints.MAX;
    }
}
