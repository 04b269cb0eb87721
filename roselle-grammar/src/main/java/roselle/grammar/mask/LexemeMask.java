package roselle.grammar.mask;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What the vocabulary's walk through one lexeme found: the tokens that stay inside it, and where it may end within tokens. */
final class LexemeMask {
    final TokenSet inside;
    final Ends ends;

    /** The symbols of tokens, for a lexeme whose bounded kin ask. */
    @Nullable
    SymbolCounts counts;

    /** Of a lexeme that all constraints share: what its walk below other nodes than the root found. */
    final Map<Integer, LexemeMask> below = new ConcurrentHashMap<>(2);

    LexemeMask(TokenSet inside, Ends ends) {
        this.inside = inside;
        this.ends = ends;
    }

    long bytes() {
        return 4L * (inside.added().length + inside.removed().length) + 12L * ends.size() + 100;
    }
}
