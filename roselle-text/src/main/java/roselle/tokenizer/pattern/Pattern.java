package roselle.tokenizer.pattern;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.tokenizer.unicode.CharacterProperties;
import roselle.tokenizer.unicode.CharacterSet;

/**
 * A compiled regular expression: instructions for {@link PatternMatcher}. Immutable and thread-safe.
 *
 * <p>Counted repetition is written out, look-around is an inner program, and everything else is the classic
 * backtracking machine. Oniguruma's preferences (leftmost, then first alternative) hold; its running time does not: see
 * the matcher.
 */
public final class Pattern {
    /** Takes one code point of {@code sets[pc]}. */
    static final byte ONE = 0;
    /** Goes on at {@code x[pc]}, and after a failure at {@code y[pc]}; sets[pc] holds what x can begin with, if known. */
    static final byte SPLIT = 1;
    /** Goes on at {@code x[pc]}. */
    static final byte JUMP = 2;
    /** Takes as many code points of {@code sets[pc]} as lead to a match, preferring more. */
    static final byte STAR = 3;
    /** Takes as many code points of {@code sets[pc]} as there are, at most {@code x[pc]} unless that is -1. */
    static final byte POSSESSIVE = 4;
    /** Runs the program that begins next; goes on at {@code x[pc]} if its success differs from {@code y[pc]} != 0. */
    static final byte LOOK_AHEAD = 5;
    /** The same, beginning {@code width[pc]} code points before. */
    static final byte LOOK_BEHIND = 6;
    /** Goes on if {@code anchors[pc]} holds. */
    static final byte AT = 7;
    /** The program has matched. */
    static final byte MATCH = 8;

    /** What {@code \\w} and word boundaries mean outside of classes: Oniguruma adds Latin-1's numbers there. */
    static final CharacterSet WORD =
            CharacterProperties.require("word").union(new CharacterSet(Pattern::isLatinNumber));

    /** Real ones need some hundreds; memory and time of a search are at most this times a text's length. */
    private static final int MAXIMUM_INSTRUCTIONS = 4_000;

    private static final int MAXIMUM_EMITTED = 16 * MAXIMUM_INSTRUCTIONS; // parts of the tree, also such as need none

    private final String source;
    private final Optional<CharacterSet> first;
    private final boolean loopsOnEmpty;
    private byte[] operations = new byte[64];
    private CharacterSet[] sets = new CharacterSet[64];
    private int[] x = new int[64];
    private int[] y = new int[64];
    private int[] width = new int[64];
    private PatternNode.Anchor[] anchors = new PatternNode.Anchor[64];
    private int size;
    private int emitted;

    private Pattern(String source, PatternNode tree) {
        this.source = source;
        first = tree.first();
        Arrays.fill(sets, CharacterSet.ALL);
        Arrays.fill(anchors, PatternNode.Anchor.TEXT_BEGIN);
        emit(tree);
        add(MATCH);
        loopsOnEmpty = hasEmptyLoop(tree);
    }

    /** A pattern in Oniguruma's syntax; a {@code CheckpointException} where it is wrong or not supported. */
    public static Pattern compile(String pattern) {
        return new Pattern(pattern, PatternParser.parse(pattern));
    }

    /** A pattern that matches this text only. */
    public static Pattern literal(String text) {
        List<PatternNode> parts = text.codePoints()
                .<PatternNode>mapToObj(codePoint -> new PatternNode.One(CharacterSet.of(codePoint)))
                .toList();
        return new Pattern(text, new PatternNode.Sequence(parts));
    }

    public String source() {
        return source;
    }

    /** What a match begins with; empty if it may be empty. */
    Optional<CharacterSet> first() {
        return first;
    }

    /** Whether a loop's body can match nothing, so that only remembering visited states ends the loop. */
    boolean loopsOnEmpty() {
        return loopsOnEmpty;
    }

    int size() {
        return size;
    }

    byte[] operations() {
        return operations;
    }

    CharacterSet[] sets() {
        return sets;
    }

    int[] x() {
        return x;
    }

    int[] y() {
        return y;
    }

    int[] width() {
        return width;
    }

    PatternNode.Anchor[] anchors() {
        return anchors;
    }

    private static boolean isLatinNumber(int codePoint) {
        return switch (codePoint) {
            case 0xB2, 0xB3, 0xB9, 0xBC, 0xBD, 0xBE -> true;
            default -> false;
        };
    }

    private static boolean hasEmptyLoop(PatternNode node) {
        return switch (node) {
            case PatternNode.One one -> false;
            case PatternNode.At at -> false;
            case PatternNode.Look look -> hasEmptyLoop(look.body());
            case PatternNode.Sequence sequence -> sequence.parts().stream().anyMatch(Pattern::hasEmptyLoop);
            case PatternNode.Choice choice -> choice.branches().stream().anyMatch(Pattern::hasEmptyLoop);
            case PatternNode.Repeat repeat ->
                (repeat.maximum() < 0 && repeat.body().isNullable()) || hasEmptyLoop(repeat.body());
        };
    }

    private int add(byte operation) {
        if (size == MAXIMUM_INSTRUCTIONS) {
            throw tooLarge();
        }
        if (size == operations.length) {
            grow();
        }
        operations[size] = operation;
        return size++;
    }

    private CheckpointException tooLarge() {
        return new CheckpointException("the tokenizer's pattern '" + shortened() + "' needs more than "
                + MAXIMUM_INSTRUCTIONS + " instructions, most likely for counted repetitions: it is not supported");
    }

    private int add(byte operation, CharacterSet set) {
        int at = add(operation);
        sets[at] = set;
        return at;
    }

    private void emitAnchor(PatternNode.Anchor anchor) {
        int at = add(AT);
        anchors[at] = anchor;
    }

    private String shortened() {
        return source.length() > 200 ? source.substring(0, 200) + "…" : source;
    }

    private void grow() {
        operations = Arrays.copyOf(operations, size * 2);
        sets = Arrays.copyOf(sets, size * 2);
        Arrays.fill(sets, size, size * 2, CharacterSet.ALL);
        x = Arrays.copyOf(x, size * 2);
        y = Arrays.copyOf(y, size * 2);
        width = Arrays.copyOf(width, size * 2);
        anchors = Arrays.copyOf(anchors, size * 2);
        Arrays.fill(anchors, size, size * 2, PatternNode.Anchor.TEXT_BEGIN);
    }

    private void emit(PatternNode node) {
        if (++emitted > MAXIMUM_EMITTED) {
            throw tooLarge();
        }
        switch (node) {
            case PatternNode.One one -> add(ONE, one.set());
            case PatternNode.Sequence sequence -> sequence.parts().forEach(this::emit);
            case PatternNode.Choice choice -> emitChoice(choice.branches());
            case PatternNode.Repeat repeat -> emitRepeat(repeat);
            case PatternNode.Look look -> emitLook(look);
            case PatternNode.At at -> emitAnchor(at.anchor());
        }
    }

    private void emitChoice(List<PatternNode> branches) {
        var exits = new ArrayList<Integer>();
        for (PatternNode branch : branches.subList(0, branches.size() - 1)) {
            int split = addSplit(branch);
            x[split] = size;
            emit(branch);
            exits.add(add(JUMP));
            y[split] = size;
        }
        emit(branches.getLast());
        exits.forEach(exit -> x[exit] = size);
    }

    private int addSplit(PatternNode preferred) {
        return add(SPLIT, preferred.first().orElse(CharacterSet.ALL));
    }

    private void emitRepeat(PatternNode.Repeat repeat) {
        for (int i = 0; i < repeat.minimum(); i++) {
            emit(repeat.body());
        }
        int more = repeat.maximum() < 0 ? -1 : repeat.maximum() - repeat.minimum();
        if (repeat.preference() == PatternNode.Preference.POSSESSIVE && repeat.body() instanceof PatternNode.One one) {
            int loop = add(POSSESSIVE, one.set());
            x[loop] = more;
        } else if (more < 0) {
            emitLoop(repeat);
        } else {
            emitOptional(repeat, more);
        }
    }

    private void emitLoop(PatternNode.Repeat repeat) {
        boolean greedy = repeat.preference() == PatternNode.Preference.GREEDY;
        if (greedy && repeat.body() instanceof PatternNode.One one) {
            add(STAR, one.set());
            return;
        }
        int split = greedy ? addSplit(repeat.body()) : add(SPLIT);
        int body = size;
        emit(repeat.body());
        int jump = add(JUMP);
        x[jump] = split;
        x[split] = greedy ? body : size;
        y[split] = greedy ? size : body;
    }

    private void emitOptional(PatternNode.Repeat repeat, int times) {
        boolean greedy = repeat.preference() == PatternNode.Preference.GREEDY;
        var splits = new ArrayList<Integer>();
        for (int i = 0; i < times; i++) {
            int split = greedy ? addSplit(repeat.body()) : add(SPLIT);
            splits.add(split);
            if (greedy) {
                x[split] = size;
            } else {
                y[split] = size;
            }
            emit(repeat.body());
        }
        for (int split : splits) {
            if (greedy) {
                y[split] = size;
            } else {
                x[split] = size;
            }
        }
    }

    private void emitLook(PatternNode.Look look) {
        if (!look.ahead() && look.body() instanceof PatternNode.Choice(List<PatternNode> branches)) {
            emitLookBehindChoice(look, branches);
            return;
        }
        int begin = add(look.ahead() ? LOOK_AHEAD : LOOK_BEHIND);
        y[begin] = look.negative() ? 1 : 0;
        width[begin] = look.ahead() ? 0 : fixedWidth(look.body());
        emit(look.body());
        add(MATCH);
        x[begin] = size;
    }

    /** The branches may differ in width: one look for each, any of which must hold, or none if negative. */
    private void emitLookBehindChoice(PatternNode.Look look, List<PatternNode> branches) {
        List<PatternNode> looks = branches.stream()
                .<PatternNode>map(branch -> new PatternNode.Look(branch, false, look.negative()))
                .toList();
        emit(look.negative() ? new PatternNode.Sequence(looks) : new PatternNode.Choice(looks));
    }

    private int fixedWidth(PatternNode node) {
        return switch (node) {
            case PatternNode.One one -> 1;
            case PatternNode.At at -> 0;
            case PatternNode.Look look -> 0;
            case PatternNode.Sequence sequence ->
                checkedWidth(
                        sequence.parts().stream().mapToLong(this::fixedWidth).sum());
            case PatternNode.Repeat repeat
            when repeat.minimum() == repeat.maximum() ->
                checkedWidth((long) repeat.minimum() * fixedWidth(repeat.body()));
            case PatternNode.Repeat repeat -> throw variableWidth();
            case PatternNode.Choice choice -> {
                int[] widths = choice.branches().stream()
                        .mapToInt(this::fixedWidth)
                        .distinct()
                        .toArray();
                if (widths.length > 1) {
                    throw variableWidth();
                }
                yield widths[0];
            }
        };
    }

    private int checkedWidth(long width) {
        if (width > MAXIMUM_INSTRUCTIONS) {
            throw tooLarge();
        }
        return (int) width;
    }

    private CheckpointException variableWidth() {
        return new CheckpointException("the tokenizer's pattern '" + shortened()
                + "' looks behind for text of no fixed length, which is not supported");
    }
}
