package roselle.structured;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.conversation.parse.MarkFinder;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;
import roselle.grammar.automaton.SymbolClasses;

/**
 * JSON texts of a constraint as Gemma writes them: a mark before and behind texts instead of quotation marks, no escapes, keys bare, and
 * no blanks between the parts. Thread-safe.
 *
 * <p>Each byte is turned into those of JSON that say the same. What may be the beginning of a mark is held back until that is known,
 * so a state is where the JSON stands before it, and how much of a mark has come.
 */
final class MarkedSpelling implements Constraint {
    private static final byte[] NO_ESCAPE = {};

    private final Constraint json;
    private final byte[] mark;
    private final boolean hasBareKeys;
    private @Nullable Texts texts; // of the constraint as it was built last

    /**
     * A spelling.
     *
     * @param hasBareKeys whether all keys are {@link BareKeys bare}; else they have marks, which readers know, too
     */
    MarkedSpelling(Constraint json, byte[] mark, boolean hasBareKeys) {
        this.json = json;
        this.mark = mark.clone();
        this.hasBareKeys = hasBareKeys;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // interned
    public synchronized State start() {
        State start = json.start();
        Texts known = texts;
        if (known == null || known.start != start) {
            known = new Texts(start, mark, hasBareKeys);
            texts = known;
        }
        return new At(known, start, Mode.BETWEEN, null, MarkFinder.START);
    }

    @Override
    public void beginStep() {
        json.beginStep();
    }

    @Override
    public void endStep() {
        json.endStep();
    }

    /** The bytes of JSON that spell a byte of a text. */
    private static byte[] escaped(int octet) {
        int at = "\"\\\b\f\n\r\t".indexOf(octet);
        if (at >= 0) {
            return new byte[] {'\\', (byte) "\"\\bfnrt".charAt(at)};
        }
        return octet < ' ' ? "\\u%04x".formatted(octet).getBytes(StandardCharsets.US_ASCII) : NO_ESCAPE;
    }

    /** What is known of texts between marks and of bare keys, for all states of one constraint. */
    private static final class Texts {
        private static final long WORD = IntStream.range('!', 0x7F)
                .filter(BareKeys::isWord)
                .mapToLong(letter -> 1L << SymbolClasses.of(letter))
                .reduce(0, (one, other) -> one | other);

        final State start;
        final byte[] mark;
        final boolean hasBareKeys;
        final MarkFinder finder;
        private final long unmarked; // classes of symbols that begin no mark
        private final Map<Inside.Key, Inside> lexemes = new ConcurrentHashMap<>();

        Texts(State start, byte[] mark, boolean hasBareKeys) {
            this.start = start;
            this.mark = mark;
            this.hasBareKeys = hasBareKeys;
            finder = new MarkFinder(List.of(new String(mark, StandardCharsets.ISO_8859_1)));
            int first = mark[0] & 0xFF;
            unmarked = first < 0x80
                    ? ~(1L << SymbolClasses.of(first))
                    : first == SpecialOctets.MARK
                            ? -1
                            : ~(1L << SymbolClasses.of(0x80) | 1L << SymbolClasses.of(0x2028));
        }

        boolean isMark(int octet) {
            return (mark[0] & 0xFF) == octet;
        }

        Inside lexeme(Lexeme json, int found, boolean isKey) {
            return lexemes.computeIfAbsent(new Inside.Key(json, found, isKey), key -> new Inside(this, key));
        }
    }

    private enum Mode {
        /** Outside of keys and texts. */
        BETWEEN,
        /** Before a key, or the end of an object without one. */
        KEY,
        /** In a bare key. */
        BARE_KEY,
        /** In the mark before a key, and in a key between marks. */
        KEY_MARK,
        MARKED_KEY,
        /** Behind a key that had marks. */
        COLON,
        /** In the mark before a text, and in a text. */
        MARK,
        TEXT,
        /** Behind the letters of {@code None}. */
        N,
        NO,
        NON
    }

    /** What is open, from inside. */
    private record Nest(boolean isObject, @Nullable Nest outer) {}

    /**
     * Where a text stands.
     *
     * @param inner where it stands as JSON, before the bytes of a mark that has begun
     * @param found how much of a mark has come: as the finder has it in texts, as bytes before them
     */
    private record At(
            Texts texts, State inner, Mode mode, @Nullable Nest nest, int found) implements State {
        @Override
        public @Nullable State advance(int octet) {
            return switch (mode) {
                case BETWEEN -> between(octet);
                case KEY -> key(octet);
                case BARE_KEY ->
                    BareKeys.isWord(octet)
                            ? to(inner.advance(octet), Mode.BARE_KEY, nest)
                            : octet == ':' ? to(after(inner, '"', ':'), Mode.BETWEEN, nest) : null;
                case COLON -> octet == ':' ? to(inner.advance(':'), Mode.BETWEEN, nest) : null;
                case KEY_MARK, MARK -> mark(octet);
                case MARKED_KEY, TEXT -> text(octet);
                case N -> octet == 'o' ? to(inner.advance('u'), Mode.NO, nest) : null;
                case NO -> octet == 'n' ? to(inner.advance('l'), Mode.NON, nest) : null;
                case NON -> octet == 'e' ? to(inner.advance('l'), Mode.BETWEEN, nest) : null;
            };
        }

        private @Nullable State to(@Nullable State behind, Mode next, @Nullable Nest open) {
            return behind == null ? null : new At(texts, behind, next, open, MarkFinder.START);
        }

        private static @Nullable State after(@Nullable State from, int... octets) {
            @Nullable State at = from;
            for (int octet : octets) {
                at = at == null ? null : at.advance(octet);
            }
            return at;
        }

        private @Nullable State between(int octet) {
            if (texts.isMark(octet)) {
                return inner.advance('"') == null ? null : new At(texts, inner, Mode.MARK, nest, 0).mark(octet);
            }
            return switch (octet) {
                case '{' -> to(inner.advance(octet), Mode.KEY, new Nest(true, nest));
                case '[' -> to(inner.advance(octet), Mode.BETWEEN, new Nest(false, nest));
                case '}', ']' -> nest == null ? null : to(inner.advance(octet), Mode.BETWEEN, nest.outer());
                case ',' -> {
                    boolean isInObject = nest != null && nest.isObject();
                    yield to(inner.advance(octet), isInObject ? Mode.KEY : Mode.BETWEEN, nest);
                }
                case 'N' -> to(inner.advance('n'), Mode.N, nest);
                case '"', ' ', '\t', '\n', '\r' -> null;
                default -> to(inner.advance(octet), Mode.BETWEEN, nest);
            };
        }

        private @Nullable State key(int octet) {
            if (octet == '}') {
                return between(octet);
            }
            if (texts.hasBareKeys) {
                return BareKeys.isWord(octet) ? to(after(inner, '"', octet), Mode.BARE_KEY, nest) : null;
            }
            return inner.advance('"') == null ? null : new At(texts, inner, Mode.KEY_MARK, nest, 0).mark(octet);
        }

        private @Nullable State mark(int octet) {
            if ((texts.mark[found] & 0xFF) != octet) {
                return null;
            }
            if (found + 1 < texts.mark.length) {
                return new At(texts, inner, mode, nest, found + 1);
            }
            return to(inner.advance('"'), mode == Mode.MARK ? Mode.TEXT : Mode.MARKED_KEY, nest);
        }

        private @Nullable State text(int octet) {
            int next = texts.finder.step(found, (char) octet);
            if (texts.finder.found(next) >= 0) {
                return to(inner.advance('"'), mode == Mode.TEXT ? Mode.BETWEEN : Mode.COLON, nest);
            }
            int begun = texts.finder.pending(found);
            int pending = texts.finder.pending(next);
            @Nullable State behind = inner;
            for (int at = 0; at < begun + 1 - pending && behind != null; at++) {
                behind = character(behind, at < begun ? texts.mark[at] & 0xFF : octet);
            }
            if (behind == null || (pending > 0 && !mayGoOn(behind, pending))) {
                return null;
            }
            return new At(texts, behind, mode, nest, next);
        }

        /** Whether a mark that has begun may end the text here, or be part of it. */
        private boolean mayGoOn(State behind, int pending) {
            if (behind.advance('"') != null) {
                return true;
            }
            @Nullable State at = behind;
            for (int i = 0; i < pending && at != null; i++) {
                at = character(at, texts.mark[i] & 0xFF);
            }
            return at != null;
        }

        private static @Nullable State character(State from, int octet) {
            byte[] spelled = escaped(octet);
            @Nullable State at = spelled.length == 0 ? from.advance(octet) : from;
            for (byte each : spelled) {
                at = at == null ? null : at.advance(each);
            }
            return at;
        }

        @Override
        public boolean isAccepting() {
            return mode == Mode.BETWEEN && inner.isAccepting();
        }

        @Override
        public State twin() {
            State twin = inner.twin();
            return twin.equals(inner) ? this : new At(texts, twin, mode, nest, found);
        }

        /** What may come behind a comma depends on bare keys, too, which none can tell apart by their quotation marks. */
        @Override
        public boolean hangsOnItems() {
            return inner.hangsOnItems() || !inner.twin().equals(inner);
        }

        private boolean isInText() {
            return mode == Mode.TEXT || mode == Mode.MARKED_KEY || mode == Mode.BARE_KEY;
        }

        @Override
        public int branches() {
            return isInText() ? inner.branches() : 0;
        }

        @Override
        public Lexeme lexeme(int branch) {
            return texts.lexeme(inner.lexeme(branch), found, mode == Mode.BARE_KEY);
        }

        @Override
        public @Nullable State leave(int branch, Lexeme end) {
            State behind = inner.leave(branch, ((Inside) end).json());
            return switch (mode) {
                case TEXT -> to(behind, Mode.BETWEEN, nest);
                case BARE_KEY -> to(after(behind, ':'), Mode.BETWEEN, nest);
                default -> to(behind, Mode.COLON, nest);
            };
        }
    }

    /** A place in a text between marks, or in a bare key with its colon. */
    private static final class Inside implements Lexeme {
        private static final Object NOWHERE = new Object();

        /**
         * What it is known by.
         *
         * @param json where the string of JSON stands, before the bytes of a mark that has begun
         */
        record Key(Lexeme json, int found, boolean isKey) {}

        private final Texts texts;
        private final Key key;
        private final @Nullable Object[] next = new Object[256];

        Inside(Texts texts, Key key) {
            this.texts = texts;
            this.key = key;
        }

        Lexeme json() {
            return key.json();
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // a mark
        public @Nullable Lexeme next(int octet) {
            Object known = next[octet];
            if (known == null) {
                Lexeme found = key.isKey() ? inKey(octet) : inText(octet);
                known = found == null ? NOWHERE : found;
                next[octet] = known;
            }
            return known == NOWHERE ? null : (Lexeme) known;
        }

        private @Nullable Lexeme inKey(int octet) {
            boolean isOver = octet == ':';
            Lexeme behind = isOver || BareKeys.isWord(octet) ? json().next(isOver ? '"' : octet) : null;
            return behind == null ? null : texts.lexeme(behind, MarkFinder.START, true);
        }

        private @Nullable Lexeme inText(int octet) {
            int step = texts.finder.step(key.found(), (char) octet);
            if (texts.finder.found(step) >= 0) {
                Lexeme end = json().next('"');
                return end == null ? null : texts.lexeme(end, MarkFinder.START, false);
            }
            int begun = texts.finder.pending(key.found());
            int pending = texts.finder.pending(step);
            @Nullable Lexeme behind = json();
            for (int at = 0; at < begun + 1 - pending && behind != null; at++) {
                behind = character(behind, at < begun ? texts.mark[at] & 0xFF : octet);
            }
            boolean goesOn = behind != null && (pending == 0 || mayGoOn(behind, pending));
            return goesOn ? texts.lexeme(Objects.requireNonNull(behind), step, false) : null;
        }

        private boolean mayGoOn(Lexeme behind, int pending) {
            if (behind.next('"') != null) {
                return true;
            }
            @Nullable Lexeme at = behind;
            for (int i = 0; i < pending && at != null; i++) {
                at = character(at, texts.mark[i] & 0xFF);
            }
            return at != null;
        }

        private static @Nullable Lexeme character(Lexeme from, int octet) {
            byte[] spelled = escaped(octet);
            @Nullable Lexeme at = spelled.length == 0 ? from.next(octet) : from;
            for (byte each : spelled) {
                at = at == null ? null : at.next(each);
            }
            return at;
        }

        @Override
        public boolean mayEnd() {
            return json().mayEnd();
        }

        @Override
        public long run() {
            return key.found() == MarkFinder.START ? json().run() & classes() : 0;
        }

        private long classes() {
            return key.isKey() ? Texts.WORD : texts.unmarked;
        }

        @Override
        public boolean isAlike(long classes) {
            return key.found() == MarkFinder.START && (classes & ~classes()) == 0 && json().isAlike(classes);
        }

        @Override
        public @Nullable Lexeme behind(long classes) {
            Lexeme behind = json().behind(classes);
            return behind == null ? null : texts.lexeme(behind, MarkFinder.START, key.isKey());
        }
    }
}
