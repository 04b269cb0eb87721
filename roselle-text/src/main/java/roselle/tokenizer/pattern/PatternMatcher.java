package roselle.tokenizer.pattern;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.tokenizer.unicode.CharacterSet;

/**
 * Finds a {@link Pattern} in one stretch of text. For one thread.
 *
 * <p>Matching backtracks, as Oniguruma does, because the patterns of tokenizers hardly ever do and then nothing is
 * faster. To stay linear for any pattern and text the matcher counts its steps, and where they exceed a multiple of the
 * text's length it begins to remember each (instruction, place) that led to no match: such a state never does, whoever
 * comes to it, and is not tried again, by this attempt or by any later one. So no state is tried twice, and the whole
 * search costs at most instructions times characters. States on the way to a success are not failures and are forgotten,
 * except inside look-around, where success is remembered likewise.
 */
public final class PatternMatcher {
    private static final int NONE = -1;
    private static final int FRAME = 4; // instruction, place, lowest place, length of the trail
    private static final int FREE_STEPS = 1 << 14;
    private static final int STEPS_PER_CHARACTER = 128;
    private static final int MAXIMUM_STACK = 1 << 27;

    /** What a step led to. */
    private enum Outcome {
        GOES_ON,
        FAILS,
        MATCHES
    }

    private final Pattern pattern;
    private final byte[] operations;
    private final CharacterSet[] sets;
    private final int[] x;
    private final int[] y;
    private final String text;
    private final int start;
    private final int end;
    private int[] stack = new int[64];
    private int top;
    private int pc;
    private int at;
    private boolean inLook;
    private long steps;
    private long budget = FREE_STEPS;
    private @Nullable PatternMemory memory;
    private int matchStart;
    private int matchEnd;

    public PatternMatcher(Pattern pattern, String text, int start, int end) {
        this.pattern = pattern;
        this.text = text;
        this.start = start;
        this.end = end;
        operations = pattern.operations();
        sets = pattern.sets();
        x = pattern.x();
        y = pattern.y();
        if (pattern.loopsOnEmpty()) {
            memory = new PatternMemory(pattern, end - start);
        }
    }

    public int matchStart() {
        return matchStart;
    }

    public int matchEnd() {
        return matchEnd;
    }

    /** How many instructions and characters the search has cost so far. */
    long steps() {
        return steps;
    }

    /** Whether searching has become so costly that failures are remembered. */
    boolean remembers() {
        return memory != null;
    }

    /** Finds the first match that begins at {@code from} or later. */
    public boolean find(int from) {
        CharacterSet beginnings = pattern.first().orElse(CharacterSet.ALL);
        int last = pattern.first().isPresent() ? end - 1 : end;
        for (int place = from; place <= last; place += place < end ? length(place) : 1) {
            if (place < end && !beginnings.contains(codePoint(place))) {
                continue;
            }
            budget = FREE_STEPS + (long) STEPS_PER_CHARACTER * (place - start);
            int matched = run(0, place);
            if (matched != NONE) {
                matchStart = place;
                matchEnd = matched;
                return true;
            }
        }
        return false;
    }

    /** The end of the match of the program at {@code program} that begins at {@code from}, or -1. */
    private int run(int program, int from) {
        int base = top;
        int mark = memory == null ? 0 : memory.mark();
        pc = program;
        at = from;
        while (true) {
            Outcome outcome = step();
            if (outcome == Outcome.MATCHES) {
                top = base;
                if (memory != null) {
                    memory.succeed(mark, inLook);
                }
                return at;
            }
            if (outcome == Outcome.FAILS && !backtrack(base, mark)) {
                return NONE;
            }
        }
    }

    private Outcome step() {
        steps++;
        return switch (operations[pc]) {
            case Pattern.ONE -> one();
            case Pattern.SPLIT -> split();
            case Pattern.JUMP -> jump(x[pc]);
            case Pattern.STAR -> memory == null ? star() : starStep(memory, true);
            case Pattern.POSSESSIVE -> possessive();
            case Pattern.LOOK_AHEAD, Pattern.LOOK_BEHIND -> look();
            case Pattern.AT -> holds(pattern.anchors()[pc]) ? jump(pc + 1) : Outcome.FAILS;
            default -> Outcome.MATCHES;
        };
    }

    private Outcome jump(int target) {
        pc = target;
        return Outcome.GOES_ON;
    }

    private Outcome one() {
        int taken = at < end ? codePoint(at) : NONE;
        if (taken == NONE || !sets[pc].contains(taken)) {
            return Outcome.FAILS;
        }
        at += Character.charCount(taken);
        return jump(pc + 1);
    }

    private Outcome split() {
        if (memory != null) {
            int known = memory.visit(pc, at - start);
            if (known != PatternMemory.NEW) {
                return outcomeOf(known);
            }
        }
        CharacterSet first = sets[pc];
        if (first == CharacterSet.ALL || (at < end && first.contains(codePoint(at)))) {
            push(y[pc], at, at);
            return jump(x[pc]);
        }
        return jump(y[pc]);
    }

    private Outcome outcomeOf(int known) {
        return known == PatternMemory.SUCCEEDS && inLook ? Outcome.MATCHES : Outcome.FAILS;
    }

    private Outcome star() {
        int reached = scan(sets[pc], Integer.MAX_VALUE);
        if (reached > at) {
            push(pc + 1, before(reached), at);
        }
        at = reached;
        return jump(pc + 1);
    }

    /** One code point of a loop, so that the loop's states are remembered each. */
    private Outcome starStep(PatternMemory known, boolean mayStopEarlier) {
        int state = known.visit(pc, at - start);
        if (state != PatternMemory.NEW) {
            return outcomeOf(state);
        }
        if (at == end || !sets[pc].contains(codePoint(at))) {
            return jump(pc + 1);
        }
        if (mayStopEarlier) {
            push(pc + 1, at, at);
        }
        at += length(at);
        return Outcome.GOES_ON;
    }

    private Outcome possessive() {
        if (memory != null && x[pc] < 0) {
            return starStep(memory, false);
        }
        at = scan(sets[pc], x[pc] < 0 ? Integer.MAX_VALUE : x[pc]);
        return jump(pc + 1);
    }

    /** Where at most {@code most} code points of a set end. */
    private int scan(CharacterSet set, int most) {
        int place = at;
        for (int i = 0; i < most && place < end && set.contains(codePoint(place)); i++) {
            place += length(place);
        }
        steps += place - at;
        if (steps > budget) {
            remember();
        }
        return place;
    }

    private Outcome look() {
        int look = pc;
        int here = at;
        boolean outer = inLook;
        int from = here;
        for (int i = pattern.width()[look]; i > 0 && from >= start; i--) {
            from = from > start ? before(from) : NONE;
        }
        inLook = true;
        boolean found = from >= start && run(look + 1, from) != NONE;
        inLook = outer;
        at = here;
        return found == (y[look] == 0) ? jump(x[look]) : Outcome.FAILS;
    }

    private boolean holds(PatternNode.Anchor anchor) {
        return switch (anchor) {
            case LINE_BEGIN -> at == start || (text.charAt(at - 1) == '\n' && at < end);
            case LINE_END -> at == end || text.charAt(at) == '\n';
            case TEXT_BEGIN -> at == start;
            case TEXT_END -> at == end;
            case TEXT_END_OR_LAST_NEWLINE -> at == end || (at == end - 1 && text.charAt(at) == '\n');
            case WORD_BOUNDARY -> isWordBefore() != isWordAfter();
            case NO_WORD_BOUNDARY -> isWordBefore() == isWordAfter();
        };
    }

    private boolean isWordBefore() {
        return at > start && Pattern.WORD.contains(codePoint(before(at)));
    }

    private boolean isWordAfter() {
        return at < end && Pattern.WORD.contains(codePoint(at));
    }

    private void push(int instruction, int place, int lowest) {
        if (top + FRAME > stack.length) {
            if (stack.length >= MAXIMUM_STACK) {
                throw new InvalidRequestException("a stretch of " + (end - start)
                        + " characters without a cut is too long for the tokenizer's pattern: send shorter texts");
            }
            stack = Arrays.copyOf(stack, stack.length * 2);
        }
        stack[top] = instruction;
        stack[top + 1] = place;
        stack[top + 2] = lowest;
        stack[top + 3] = memory == null ? 0 : memory.mark();
        top += FRAME;
    }

    /** Goes back to the last choice; false if there is none above {@code base}. */
    private boolean backtrack(int base, int mark) {
        if (steps > budget) {
            remember();
        }
        if (top == base) {
            fail(mark);
            return false;
        }
        int frame = top - FRAME;
        pc = stack[frame];
        at = stack[frame + 1];
        fail(stack[frame + 3]);
        if (at > stack[frame + 2]) {
            stack[frame + 1] = before(at);
        } else {
            top = frame;
        }
        return true;
    }

    private void fail(int mark) {
        if (memory != null) {
            memory.fail(mark);
        }
    }

    private void remember() {
        if (memory == null) {
            memory = new PatternMemory(pattern, end - start);
        }
    }

    private int codePoint(int place) {
        char c = text.charAt(place);
        if (Character.isHighSurrogate(c) && place + 1 < end && Character.isLowSurrogate(text.charAt(place + 1))) {
            return Character.toCodePoint(c, text.charAt(place + 1));
        }
        return c;
    }

    private int length(int place) {
        return codePoint(place) >= 0x10000 ? 2 : 1;
    }

    private int before(int place) {
        boolean isPair = place - 2 >= start
                && Character.isLowSurrogate(text.charAt(place - 1))
                && Character.isHighSurrogate(text.charAt(place - 2));
        return isPair ? place - 2 : place - 1;
    }
}
