package roselle.grammar.regex;

import java.util.Arrays;

/** A set of code points as sorted, disjoint ranges that do not touch: first, last, first, last … */
public final class CodePoints {
    public static final int MAX = Character.MAX_CODE_POINT;
    public static final CodePoints NONE = new CodePoints(new int[0]);
    public static final CodePoints ALL = new CodePoints(new int[] {0, MAX});

    private final int[] ranges;

    private CodePoints(int[] ranges) {
        this.ranges = ranges;
    }

    public static CodePoints range(int first, int last) {
        return new CodePoints(new int[] {first, last});
    }

    public static CodePoints of(int codePoint) {
        return range(codePoint, codePoint);
    }

    /** The set of the characters of a text. */
    public static CodePoints ofEach(String characters) {
        CodePoints set = NONE;
        for (int codePoint : characters.codePoints().toArray()) {
            set = set.or(of(codePoint));
        }
        return set;
    }

    /** Ranges in ascending order that may touch. */
    static CodePoints ofSorted(int[] ranges, int length) {
        int[] merged = new int[length];
        int size = 0;
        for (int i = 0; i < length; i += 2) {
            if (size > 0 && ranges[i] <= merged[size - 1] + 1) {
                merged[size - 1] = Math.max(merged[size - 1], ranges[i + 1]);
            } else {
                merged[size++] = ranges[i];
                merged[size++] = ranges[i + 1];
            }
        }
        return new CodePoints(Arrays.copyOf(merged, size));
    }

    public CodePoints or(CodePoints other) {
        int[] all = new int[ranges.length + other.ranges.length];
        int a = 0;
        int b = 0;
        for (int at = 0; at < all.length; at += 2) {
            boolean takesOther = a == ranges.length || (b < other.ranges.length && other.ranges[b] < ranges[a]);
            int[] from = takesOther ? other.ranges : ranges;
            int index = takesOther ? b : a;
            all[at] = from[index];
            all[at + 1] = from[index + 1];
            if (takesOther) {
                b += 2;
            } else {
                a += 2;
            }
        }
        return ofSorted(all, all.length);
    }

    public CodePoints not() {
        int[] rest = new int[ranges.length + 2];
        int size = 0;
        int next = 0;
        for (int i = 0; i < ranges.length; i += 2) {
            if (ranges[i] > next) {
                rest[size++] = next;
                rest[size++] = ranges[i] - 1;
            }
            next = ranges[i + 1] + 1;
        }
        if (next <= MAX) {
            rest[size++] = next;
            rest[size++] = MAX;
        }
        return new CodePoints(Arrays.copyOf(rest, size));
    }

    public CodePoints and(CodePoints other) {
        return not().or(other.not()).not();
    }

    /** How many there are. */
    int size() {
        int size = 0;
        for (int i = 0; i < ranges.length; i += 2) {
            size += ranges[i + 1] - ranges[i] + 1;
        }
        return size;
    }

    public boolean isEmpty() {
        return ranges.length == 0;
    }

    public boolean contains(int codePoint) {
        for (int i = 0; i < ranges.length; i += 2) {
            if (codePoint <= ranges[i + 1]) {
                return codePoint >= ranges[i];
            }
        }
        return false;
    }

    int[] ranges() {
        return ranges;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CodePoints set && Arrays.equals(ranges, set.ranges);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(ranges);
    }
}
