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

    /** One language behind the symbols of a set, another behind all others. */
    static Steps of(CodePoints set, Language inside, Language outside) {
        int[] ranges = set.ranges();
        int[] starts = new int[ranges.length + 1];
        Language[] targets = new Language[ranges.length + 1];
        int size = 0;
        int next = 0;
        for (int i = 0; i < ranges.length; i += 2) {
            if (ranges[i] > next) {
                starts[size] = next;
                targets[size++] = outside;
            }
            starts[size] = ranges[i];
            targets[size++] = inside;
            next = ranges[i + 1] + 1;
        }
        if (next <= CodePoints.MAX) {
            starts[size] = next;
            targets[size++] = outside;
        }
        return new Steps(Arrays.copyOf(starts, size), Arrays.copyOf(targets, size));
    }

    /** Neighbours with the same target as one range. */
    @SuppressWarnings("ReferenceEquality") // interned
    static Steps merged(int[] starts, Language[] targets) {
        int size = 0;
        int[] newStarts = new int[starts.length];
        Language[] newTargets = new Language[starts.length];
        for (int i = 0; i < starts.length; i++) {
            if (size == 0 || newTargets[size - 1] != targets[i]) {
                newStarts[size] = starts[i];
                newTargets[size++] = targets[i];
            }
        }
        return new Steps(Arrays.copyOf(newStarts, size), Arrays.copyOf(newTargets, size));
    }
}
