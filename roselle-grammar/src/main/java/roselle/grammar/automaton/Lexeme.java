package roselle.grammar.automaton;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A state of a finite automaton over bytes without a stack: inside a string, a number, a word.
 *
 * <p>Lexemes are interned: those with the same language are, where that is cheap to know, the same object. From each of them an end
 * can be reached.
 */
public interface Lexeme {
    /** The lexeme behind one more byte (0 to 255), or null where it does not go on so. */
    @Nullable
    Lexeme next(int octet);

    /** The bytes that may come, where they are few and this is cheap to know; others may be among them. Null for most. Read only. */
    default int @Nullable [] octets() {
        return null;
    }

    /**
     * Some texts as bytes, in an order in which neighbours begin alike.
     *
     * @param texts of which those between two are meant
     * @param skipped bytes of each of them that have been read
     * @param gone which of those between are left out, counted from the first; null for none
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record KnownTexts(
            byte[][] texts,
            int from,
            int to,
            int skipped,
            @Nullable BitSet gone) {
        /** Whether one of them is not left out. */
        public boolean has(int which) {
            return gone == null || !gone.get(which - from);
        }
    }

    /** The texts that alone may come, to the lexeme's end, where this is cheap to know; null for most. */
    default @Nullable KnownTexts texts() {
        return null;
    }

    /** The lexeme behind one of those texts. */
    default Lexeme endOf(int which) {
        throw new IllegalStateException("there are other ways");
    }

    /** What is still to come of the one text of {@link #texts}; null where there are several ways. */
    default byte @Nullable [] only() {
        KnownTexts known = texts();
        if (known == null || known.to() != known.from() + 1) {
            return null;
        }
        byte[] whole = known.texts()[known.from()];
        return Arrays.copyOfRange(whole, known.skipped(), whole.length);
    }

    /** The lexeme behind that text. */
    default Lexeme onlyEnd() {
        KnownTexts known = texts();
        return endOf(known == null ? 0 : known.from());
    }

    /** Whether the lexeme is complete here; it may still go on. */
    boolean mayEnd();

    /**
     * The wider lexeme that this one is part of, where this is that one without the texts of {@link #excluded()}, and no beginning is
     * lost with them; null for most. A mask is then that of the wider one, which is remembered, without the tokens that complete an
     * excluded text. All texts of both end with the octet {@link #closing()}, and none goes on behind it.
     */
    default @Nullable Lexeme wider() {
        return null;
    }

    /** The octet that ends each text of this lexeme, and stands nowhere else than at its end or where it is escaped; -1 for none. */
    default int closing() {
        return -1;
    }

    /** Further texts that are left out: each as the bytes still to come, to the end, where there is one way to spell it. */
    default List<byte[]> excludedTexts() {
        return List.of();
    }

    /** The texts that {@link #wider()} has and this has not, but for {@link #excludedTexts}; null for none. */
    default @Nullable Lexeme excluded() {
        return null;
    }

    /**
     * The lexeme without bounds on its number of symbols, where those bounds are all that keeps this one from it; null for most. What
     * it allows is then counted and not walked.
     */
    default @Nullable Lexeme unbounded() {
        return null;
    }

    /** The symbols that must come at least, where there is an {@link #unbounded()} lexeme. */
    default long minSymbols() {
        return 0;
    }

    /** The symbols that may come at most, where there is an {@link #unbounded()} lexeme. */
    default long maxSymbols() {
        return Long.MAX_VALUE;
    }

    /**
     * Another lexeme that allows the tokens that this one does, because bounds keep this one from it that are not felt yet.
     *
     * @param lexeme the other one
     * @param agreed up to how many symbols tokens are allowed and end alike, but for those that end with too few; longer ones must be
     *     asked for one by one
     * @param least symbols before an end
     * @param most symbols before an end
     * @param unbounded the lexeme of all texts, which both are part of and read alike: its tokens' symbols are theirs; null where neither
     *     least nor most says anything
     */
    record Looser(
            Lexeme lexeme,
            int agreed,
            int least,
            int most,
            @Nullable Lexeme unbounded) {}

    /** The lexeme without some bounds, if that helps; null for most. */
    default @Nullable Looser looser() {
        return null;
    }

    /**
     * Another lexeme that goes on as this one does but for a few beginnings: behind most bytes both are the same object. The mask of
     * this one is then that of the other, which is remembered, with what differs walked side by side; null for most.
     */
    default @Nullable Lexeme resembled() {
        return null;
    }

    /** Whether it lies between two symbols, and so a byte that leads here has completed one. */
    default boolean isBetweenSymbols() {
        return false;
    }

    /** Whether constraints share it, and with it what is known of its masks. */
    default boolean isShared() {
        return false;
    }

    /**
     * The {@link SymbolClasses} with all symbols of which the lexeme goes on to one and the same lexeme, as bits; 0 where that is not
     * known. What stays inside runs of such symbols is then looked up and not walked.
     */
    default long run() {
        return 0;
    }

    /**
     * Symbols with each of which the lexeme goes on to itself, if they are all of such a wide set; none where that is not known, or where
     * it may end. What stays inside them is then found below any node of the trie without a walk.
     */
    default Symbols loop() {
        return Symbols.NONE;
    }

    /**
     * Symbols with each of which this lexeme and another go on to the same one, or both to none, and which lie between two symbols here;
     * none where that is not known.
     */
    default Symbols agreement(Lexeme other) {
        return Symbols.NONE;
    }

    /**
     * Where the {@link SymbolClasses#group groups} of symbols lead.
     *
     * @param mixed groups whose symbols do not all lead to the same lexeme, as bits
     * @param behind of each other group the lexeme, null where it does not come
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Groups(int mixed, @Nullable Lexeme[] behind) {
        /** Those of a lexeme that knows whether classes are alike. */
        public static Groups of(Lexeme lexeme) {
            Lexeme[] behind = new Lexeme[SymbolClasses.GROUPS];
            int mixed = 0;
            for (int group = 0; group < behind.length; group++) {
                if (lexeme.isAlike(SymbolClasses.group(group))) {
                    behind[group] = lexeme.behind(SymbolClasses.group(group));
                } else {
                    mixed |= 1 << group;
                }
            }
            return new Groups(mixed, behind);
        }

        public boolean isMixed(int group) {
            return (mixed & 1 << group) != 0;
        }
    }

    /** Where groups of symbols lead; null where that is not known. */
    default @Nullable Groups groups() {
        return null;
    }

    /** Whether all symbols of some classes lead to one and the same lexeme, or to none. */
    default boolean isAlike(long classes) {
        return false;
    }

    /** The lexeme behind each symbol of classes that are {@link #isAlike alike}; null where they do not come. */
    default @Nullable Lexeme behind(long classes) {
        throw new IllegalArgumentException("the symbols are not alike");
    }
}
