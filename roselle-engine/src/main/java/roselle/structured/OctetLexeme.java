package roselle.structured;

import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/** The rest of a literal. */
final class OctetLexeme implements Lexeme {
    /** Behind it. */
    static final Lexeme END = new OctetLexeme(new byte[0], 0, null);

    private final byte[] octets;
    private final int at;
    private final @Nullable Lexeme behind; // one byte further

    OctetLexeme(byte[] octets, int at, @Nullable Lexeme behind) {
        this.octets = octets;
        this.at = at;
        this.behind = behind;
    }

    @Override
    public @Nullable Lexeme next(int octet) {
        return at < octets.length && (octets[at] & 0xFF) == octet ? behind : null;
    }

    @Override
    public boolean mayEnd() {
        return at == octets.length;
    }

    @Override
    public KnownTexts texts() {
        return new KnownTexts(new byte[][] {octets}, 0, 1, at, null);
    }

    @Override
    public Lexeme endOf(int which) {
        return END;
    }
}
