package roselle.grammar.mask;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/**
 * What the vocabulary's walk through one lexeme found: the tokens that stay inside it, and the nodes of the trie at which it may end
 * with bytes of tokens still to come. Those below one kind of end are joined into {@link Tails} when they are asked for a second time.
 */
final class LexemeMask {
    private static final int MIN_JOINED = 16;

    final long[] inside;
    final Lexeme[] ends;
    final int[] endNodes;

    /** The symbols of tokens, for a lexeme whose bounded kin ask. */
    @Nullable
    SymbolCounts counts;

    private int asked;
    private @Nullable List<Tails> tails;

    LexemeMask(long[] inside, Lexeme[] ends, int[] endNodes) {
        this.inside = inside;
        this.ends = ends;
        this.endNodes = endNodes;
    }

    /** The joined tails by end, or null if they are too few, or asked for the first time. */
    @SuppressWarnings("ReferenceEquality") // interned
    @Nullable
    List<Tails> tails(TokenTrie trie) {
        List<Tails> known = tails;
        if (known == null && ends.length >= MIN_JOINED && ++asked > 1) {
            known = new ArrayList<>();
            int from = 0;
            while (from < ends.length) {
                int to = from + 1;
                while (to < ends.length && ends[to] == ends[from]) {
                    to++;
                }
                known.add(Tails.of(trie, ends[from], endNodes, from, to));
                from = to;
            }
            tails = known;
        }
        return known;
    }

    long bytes() {
        return 8L * inside.length + 12L * ends.length;
    }
}
