package roselle.grammar.mask;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/** What the vocabulary's walk through one lexeme found: the tokens that stay inside it, and where it may end within tokens. */
final class LexemeMask {
    private static final int SHARING = 4; // sets with the same base, about

    final TokenSet inside;
    final Ends ends;

    private volatile @Nullable SymbolCounts counts;

    LexemeMask(TokenSet inside, Ends ends) {
        this.inside = inside;
        this.ends = ends;
    }

    /** The symbols of tokens, for a lexeme whose bounded kin ask. */
    SymbolCounts counts(Vocabulary vocabulary, Lexeme lexeme) {
        SymbolCounts known = counts;
        if (known == null) {
            synchronized (this) {
                known = counts == null
                        ? SymbolCounts.of(vocabulary.trie(), this, lexeme, vocabulary.words())
                        : Objects.requireNonNull(counts);
                counts = known;
            }
        }
        return known;
    }

    long bytes() {
        return (inside.base() == null ? 0 : 8L * inside.base().bits.length / SHARING)
                + 4L * (inside.added().length + inside.removed().length)
                + 12L * ends.size()
                + 100;
    }
}
