package roselle.grammar.mask;

import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.Symbols;

/**
 * A lexeme that goes on to itself with most symbols, and with some others to lexemes from which all but a few lead where they lead from
 * itself: the beginnings of texts that must or must not come somewhere. Behind all symbols but those few it is then known by the last
 * one which lexeme a text stands in.
 */
final class Detours {
    private static final int[] NONE = {};
    private static final int MAX_DETOURS = 24;
    private static final int MAX_WATCHED = 6; // symbols behind one of them
    private static final int FIRST = 0x20;
    private static final int LAST = 0x7E;

    /** The lexemes behind the symbols of detours; null for all others. */
    final @Nullable Lexeme[] behind = new Lexeme[128];

    /** Symbols with which some text stays within the lexeme and its detours. */
    final Symbols stays;

    private final @Nullable Symbols[] watchedBehind = new Symbols[128];

    private Detours(Lexeme lexeme) {
        Symbols loop = lexeme.loop();
        Symbols all = loop;
        for (int symbol = FIRST; symbol <= LAST; symbol++) {
            Lexeme next = loop.has(symbol) ? null : lexeme.next(symbol);
            Symbols others = next == null || next.mayEnd() ? null : others(lexeme, next);
            if (others != null) {
                behind[symbol] = next;
                watchedBehind[symbol] = others;
                all = all.with(Symbols.of(symbol));
            }
        }
        this.stays = all;
    }

    /** The symbols of ASCII with which the lexeme behind another goes on otherwise than that one; null where they are not few. */
    private static @Nullable Symbols others(Lexeme lexeme, Lexeme behind) {
        Symbols agreed = behind.agreement(lexeme);
        if ((lexeme.loop().beyond() & ~agreed.beyond()) != 0) {
            return null;
        }
        Symbols others = Symbols.NONE;
        int count = 0;
        for (int symbol = FIRST; symbol <= LAST; symbol++) {
            if (!agreed.has(symbol) && symbol != '"' && symbol != '\\') {
                others = others.with(Symbols.of(symbol));
                count++;
            }
        }
        return count <= MAX_WATCHED ? others : null;
    }

    /** Those of a lexeme; null where it has none, or too many. */
    static @Nullable Detours of(Lexeme lexeme) {
        Symbols loop = lexeme.loop();
        int exits = 0;
        for (int symbol = FIRST; symbol <= LAST; symbol++) {
            exits += loop.has(symbol) ? 0 : 1;
        }
        if (exits <= 2 || exits > MAX_DETOURS) { // a quotation mark and a backslash always lead out
            return null;
        }
        Detours found = new Detours(lexeme);
        return found.stays.equals(loop) ? null : found;
    }

    /** The symbols of ASCII that lead elsewhere behind another than they do from the lexeme itself; few, and none for most. */
    int[] watchedBehind(int before) {
        Symbols few = watchedBehind[before];
        if (few == null) {
            return NONE;
        }
        return IntStream.rangeClosed(FIRST, LAST).filter(few::has).toArray();
    }
}
