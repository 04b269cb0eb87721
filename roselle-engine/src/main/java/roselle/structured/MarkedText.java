package roselle.structured;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import roselle.conversation.parse.MarkFinder;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.SymbolClasses;

/**
 * Free text up to the first of some marks, which leads on or must not come; where a text stands is a number. Immutable as seen from
 * outside, and thread-safe.
 *
 * <p>It is the automaton of Aho and Corasick over bytes beside that of UTF-8. Between marks it goes on alike with nearly all symbols,
 * so masks of its {@link #lexeme lexemes} come from sets of tokens that all texts share, and within a mark's beginning they differ
 * from those by the few tokens that go on with the mark.
 */
final class MarkedText {
    /** What a number is where the text does not go on so. */
    static final int NOT = -1;

    private static final int BEGUN = 32; // behind the first character; before it further letters are barred
    private static final int STATES = 64;
    private static final int SPECIAL = 8; // three, two and one bytes of a special token to come: 8, 9, 10

    /**
     * How a text is free.
     *
     * @param allowsSpecial whether special tokens may be in it, other than those of marks
     * @param barred characters that it does not begin with, blanks aside
     */
    record Freedom(boolean allowsSpecial, String barred) {
        static final Freedom TEXT = new Freedom(false, "");
    }

    private final MarkFinder finder;
    private final List<byte[]> marks;
    private final boolean[] leads; // by mark
    private final Freedom freedom;
    private final Map<Key, Inside> lexemes = new ConcurrentHashMap<>();
    private final long run;

    /**
     * A text.
     *
     * @param marks none empty, none twice
     * @param leads for each, whether the text may go on to it; else it does not come
     */
    MarkedText(List<byte[]> marks, boolean[] leads, Freedom freedom) {
        finder = new MarkFinder(marks.stream()
                .map(mark -> new String(mark, StandardCharsets.ISO_8859_1))
                .toList());
        this.marks = List.copyOf(marks);
        this.leads = leads.clone();
        this.freedom = freedom;
        run = run(marks);
    }

    /** The classes of symbols that no mark begins with. */
    private static long run(List<byte[]> marks) {
        long run = (1L << SymbolClasses.COUNT) - 1;
        for (byte[] mark : marks) {
            int first = mark[0] & 0xFF;
            if (first < 0x80) {
                run &= ~(1L << SymbolClasses.of(first));
            } else if (first != SpecialOctets.MARK) {
                run &= ~(1L << SymbolClasses.of(0x80) | 1L << SymbolClasses.of(0x2028));
            }
        }
        return run;
    }

    /** Where every text begins. */
    int start() {
        return freedom.barred().isEmpty() ? BEGUN : 0;
    }

    /** Whether no character is incomplete. */
    static boolean isWhole(int at) {
        return at % BEGUN == 0;
    }

    /** The mark that the text has come to, or -1. */
    int found(int at) {
        return finder.found(at / STATES);
    }

    /** Whether what was read ends with the first bytes of a mark. */
    boolean endsWith(int at, byte[] mark, int length) {
        int depth = finder.pending(at / STATES);
        for (byte[] begun : marks) {
            if (begun.length >= depth && stateBehind(begun, depth) == at / STATES) {
                return length <= depth && Arrays.equals(begun, depth - length, depth, mark, 0, length);
            }
        }
        return length == 0;
    }

    private int stateBehind(byte[] mark, int length) {
        int state = MarkFinder.START;
        for (int at = 0; at < length; at++) {
            state = finder.step(state, (char) (mark[at] & 0xFF));
        }
        return state;
    }

    /** Behind one more byte. */
    int next(int at, int octet) {
        boolean isBegun = (at & BEGUN) != 0;
        if (!isBegun && freedom.barred().indexOf(octet) >= 0) {
            return NOT;
        }
        int character = character(at % BEGUN, octet);
        if (character < 0) {
            return NOT;
        }
        int mark = finder.step(at / STATES, (char) octet);
        int found = finder.found(mark);
        if (!freedom.allowsSpecial() && finder.pending(mark) < ofSpecial(at % BEGUN, octet)) {
            return NOT;
        }
        if (found >= 0) {
            return leads[found] ? mark * STATES + BEGUN : NOT;
        }
        return mark * STATES + (isBegun || octet > ' ' ? BEGUN : 0) + character;
    }

    /** How many bytes of a special token have been read with this one. */
    private static int ofSpecial(int state, int octet) {
        return state >= SPECIAL ? state - SPECIAL + 2 : octet == SpecialOctets.MARK ? 1 : 0;
    }

    /** The state of UTF-8 behind a byte: 0 between characters, 1 to 3 bytes to come, 4 to 7 with bounds on the next. */
    private static int character(int state, int octet) {
        boolean isInner = (octet & 0xC0) == 0x80;
        return switch (state) {
            case 0 -> first(octet);
            case 1 -> isInner ? 0 : NOT;
            case 2 -> isInner ? 1 : NOT;
            case 3 -> isInner ? 2 : NOT;
            case 4 -> isInner && octet >= 0xA0 ? 1 : NOT; // behind E0
            case 5 -> isInner && octet <= 0x9F ? 1 : NOT; // behind ED
            case 6 -> isInner && octet >= 0x90 ? 2 : NOT; // behind F0
            case 7 -> isInner && octet <= 0x8F ? 2 : NOT; // behind F4
            default -> state == SPECIAL + 2 ? 0 : state + 1;
        };
    }

    private static int first(int octet) {
        if (octet < 0x80) {
            return 0;
        }
        if (octet >= 0xC2 && octet <= 0xDF) {
            return 1;
        }
        return switch (octet) {
            case 0xE0 -> 4;
            case 0xED -> 5;
            case 0xF0 -> 6;
            case 0xF4 -> 7;
            case SpecialOctets.MARK -> SPECIAL;
            default -> octet > 0xE0 && octet <= 0xEF ? 2 : octet > 0xF0 && octet < 0xF4 ? 3 : NOT;
        };
    }

    /** What a lexeme is known by. */
    private record Key(int at, boolean endsAnywhere, int characters) {}

    /**
     * The lexeme from a place on, which ends with a mark that leads on.
     *
     * @param endsAnywhere whether it also ends behind any character
     * @param characters behind which it ends in any case; -1 for any number
     */
    Inside lexeme(int at, boolean endsAnywhere, int characters) {
        return lexemes.computeIfAbsent(new Key(at, endsAnywhere, characters), Inside::new);
    }

    /** A place in the text. */
    final class Inside implements Lexeme {
        final int at;
        final int characters; // that may still come; -1 for any number
        private final boolean endsAnywhere;
        private final @Nullable Object[] next = new Object[256];

        private Inside(Key key) {
            this.at = key.at();
            this.characters = key.characters();
            this.endsAnywhere = key.endsAnywhere();
        }

        private static final Object NOWHERE = new Object();

        @Override
        @SuppressWarnings("ReferenceEquality") // a mark
        public @Nullable Lexeme next(int octet) {
            Object known = next[octet];
            if (known == null) {
                known = step(octet);
                next[octet] = known;
            }
            return known == NOWHERE ? null : (Lexeme) known;
        }

        private Object step(int octet) {
            int behind = found(at) >= 0 || isSpent() ? NOT : MarkedText.this.next(at, octet);
            return behind == NOT ? NOWHERE : lexeme(behind, endsAnywhere, left(isWhole(behind)));
        }

        private boolean isSpent() {
            return characters == 0 && isWhole(at);
        }

        private int left(boolean isOneLess) {
            return isOneLess && characters > 0 ? characters - 1 : characters;
        }

        @Override
        public boolean mayEnd() {
            return found(at) >= 0 || (endsAnywhere && isWhole(at)) || isSpent();
        }

        private boolean isBetweenMarks() {
            return at == BEGUN && characters != 0;
        }

        @Override
        public @Nullable Lexeme resembled() {
            return at == BEGUN || !isWhole(at) || found(at) >= 0 || characters == 0
                    ? null
                    : lexeme(BEGUN, endsAnywhere, characters);
        }

        @Override
        public long run() {
            return isBetweenMarks() ? run : 0;
        }

        @Override
        public boolean isAlike(long classes) {
            return isBetweenMarks() && (classes & ~run) == 0;
        }

        @Override
        public Lexeme behind(long classes) {
            return Objects.requireNonNull(isAlike(classes) ? lexeme(at, endsAnywhere, left(true)) : null);
        }
    }
}
