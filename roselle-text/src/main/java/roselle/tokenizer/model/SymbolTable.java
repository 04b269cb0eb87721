package roselle.tokenizer.model;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Turns the characters of a piece into the symbols that merging starts from, and symbols into ids. */
final class SymbolTable {
    private static final int NONE = -1;

    private final Vocabulary vocabulary;
    private final Affixes affixes;
    private final Fallback fallback;
    private final int[] strangers;
    private final int[] simple = new int[1 << 16]; // ids of characters of the basic plane, or NONE

    /** What is put before every character but a word's first, and after its last, before they are looked up. */
    record Affixes(String prefix, String suffix) {
        static final Affixes NONE = new Affixes("", "");
    }

    /**
     * What becomes of characters without a token: bytes, else the unknown token, else nothing.
     *
     * @param byteIds ids of {@code <0x00>} to {@code <0xFF>}, -1 where there is none; empty for no fallback to bytes
     * @param unknown the unknown token's id, or -1
     * @param fuseUnknown one unknown token stands for a run of such characters
     */
    @SuppressWarnings("ArrayRecordComponent") // built once and never changed
    record Fallback(int[] byteIds, int unknown, boolean fuseUnknown) {
        /** Whether every character has an answer in bytes, so that the unknown token never occurs. */
        boolean coversAllBytes() {
            return byteIds.length > 0 && Arrays.stream(byteIds).noneMatch(id -> id < 0);
        }
    }

    /**
     * Reads characters by {@code vocabulary}.
     *
     * @param strangers code points, ascending, that merge but are no tokens; their symbols follow the vocabulary's ids
     */
    SymbolTable(Vocabulary vocabulary, Affixes affixes, Fallback fallback, int[] strangers) {
        this.vocabulary = vocabulary;
        this.affixes = affixes;
        this.fallback = fallback;
        this.strangers = strangers;
        Arrays.fill(simple, NONE);
        vocabulary.forEachSingleCharacter((character, id) -> simple[character] = id);
    }

    /** Appends the symbols of a piece. */
    void read(char[] characters, int size, IdBuffer symbols) {
        int pending = NONE; // an unknown symbol that the next unknown character may join
        for (int i = 0; i < size; ) {
            int codePoint = Character.codePointAt(characters, i, size);
            int after = i + Character.charCount(codePoint);
            int id = find(codePoint, i == 0, after == size);
            if (id != NONE) {
                flush(pending, symbols);
                pending = NONE;
                symbols.add(id);
            } else if (!addBytes(spelled(codePoint, i == 0, after == size), symbols) && fallback.unknown() != NONE) {
                if (!fallback.fuseUnknown()) {
                    flush(pending, symbols);
                }
                pending = fallback.unknown();
            }
            i = after;
        }
        flush(pending, symbols);
    }

    private static void flush(int pending, IdBuffer symbols) {
        if (pending != NONE) {
            symbols.add(pending);
        }
    }

    private int find(int codePoint, boolean first, boolean last) {
        if ((!first && !affixes.prefix().isEmpty())
                || (last && !affixes.suffix().isEmpty())) {
            return vocabulary.find(spelled(codePoint, first, last));
        }
        int id = codePoint < simple.length ? simple[codePoint] : vocabulary.find(Character.toString(codePoint));
        return id == NONE && strangers.length > 0 ? symbolOfStranger(codePoint) : id;
    }

    /** The symbol of a code point that merges but is no token, or -1. */
    private int symbolOfStranger(int codePoint) {
        int place = Arrays.binarySearch(strangers, codePoint);
        return place < 0 ? NONE : vocabulary.size() + place;
    }

    private String spelled(int codePoint, boolean first, boolean last) {
        return (first ? "" : affixes.prefix()) + Character.toString(codePoint) + (last ? affixes.suffix() : "");
    }

    /** Appends the bytes' tokens, if there is one for each. */
    private boolean addBytes(String spelling, IdBuffer symbols) {
        int[] byteIds = fallback.byteIds();
        if (byteIds.length == 0) {
            return false;
        }
        int before = symbols.size();
        for (byte value : spelling.getBytes(StandardCharsets.UTF_8)) {
            int id = byteIds[value & 0xFF];
            if (id == NONE) {
                symbols.truncate(before);
                return false;
            }
            symbols.add(id);
        }
        return true;
    }

    /** Appends the ids of a symbol. */
    void write(int symbol, IdBuffer ids) {
        if (symbol < vocabulary.size()) {
            ids.add(symbol);
        } else if (!addBytes(Character.toString(strangers[symbol - vocabulary.size()]), ids)
                && fallback.unknown() != NONE) {
            ids.add(fallback.unknown());
        }
    }
}
