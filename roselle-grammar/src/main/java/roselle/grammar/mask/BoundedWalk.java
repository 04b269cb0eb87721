package roselle.grammar.mask;

import java.util.Arrays;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/** The masks of lexemes that are others with bounds: what the bounds forbid is taken off. Not thread-safe. */
final class BoundedWalk {
    private final Vocabulary vocabulary;
    private final TokenTrie trie;
    private final SetBuilder tokens;
    private final LexemePath path;

    BoundedWalk(Vocabulary vocabulary) {
        this.vocabulary = vocabulary;
        this.trie = vocabulary.trie();
        this.tokens = new SetBuilder(vocabulary.words());
        this.path = new LexemePath(vocabulary);
    }

    /** A lexeme's tokens with bounds on their number of symbols. */
    LexemeMask bounded(LexemeMask all, SymbolCounts counts, long min, long max) {
        if (min == 0 && max >= counts.atMost().length) {
            return all;
        }
        Ends ends = all.ends;
        if (min > 0 || max < counts.mostOfEnds()) {
            ends = kept(ends, node -> counts.ofEnd(node) >= min && counts.ofEnd(node) <= max);
        }
        // Tokens that end right behind the lexeme are inside it, and bound by both.
        tokens.clear();
        tokens.addAll(TokenSet.of(counts.atMost(max)));
        removeComplete(counts, min);
        return new LexemeMask(tokens.finish(), ends);
    }

    private void removeComplete(SymbolCounts counts, long min) {
        for (int token : min > 0 ? counts.complete() : new int[0]) {
            if (counts.ofComplete(token) < min) {
                tokens.remove(token);
            }
        }
    }

    private static Ends kept(Ends all, IntPredicate isKept) {
        Ends.Builder kept = new Ends.Builder();
        for (int i = 0; i < all.size(); i++) {
            if (isKept.test(all.nodes[i])) {
                kept.add(all.lexemes[i], all.nodes[i]);
            }
        }
        return kept.size() == all.size() ? all : kept.build();
    }

    /** Whether the tokens below a node are those of a looser lexeme but for what is asked for. */
    static boolean isKnown(Lexeme.Looser looser, int root) {
        return root == 0 || looser.least() == 0; // symbols are counted from the root
    }

    /** The tokens of a lexeme as those of its looser one, where what is longer than they agree has been asked for by itself. */
    LexemeMask loosened(LexemeMask all, Lexeme lexeme, Lexeme.Looser looser, @Nullable SymbolCounts counts, int root) {
        NodeSymbols symbols = vocabulary.symbols();
        int agreed = symbols.symbols[root] + looser.agreed();
        boolean areAllKnown = agreed < 0 || agreed >= symbols.most();
        if (areAllKnown && looser.least() == 0) {
            return all;
        }
        tokens.clear();
        tokens.addAll(all.inside);
        Ends ends = all.ends;
        if (counts != null && root == 0) {
            removeLonger(all.inside, counts.atMost(looser.most()));
            removeComplete(counts, looser.least());
            ends = kept(ends, node -> counts.ofEnd(node) >= looser.least() && counts.ofEnd(node) <= looser.most());
        }
        if (!areAllKnown) {
            ask(lexeme, root, agreed);
            ends = kept(ends, node -> symbols.symbols[node] <= agreed || mayEnd(node));
        }
        return new LexemeMask(tokens.finish(), ends);
    }

    private void removeLonger(TokenSet all, Dense atMost) {
        for (int token : all.added()) {
            if (!atMost.has(token)) {
                tokens.remove(token);
            }
        }
        Dense base = all.base();
        for (int word = 0; base != null && word < base.bits.length; word++) {
            for (long rest = base.bits[word] & ~atMost.bits[word]; rest != 0; rest &= rest - 1) {
                tokens.remove((word << 6) + Long.numberOfTrailingZeros(rest));
            }
        }
    }

    /** Takes off the tokens of more symbols that a lexeme does not allow below a node. */
    private void ask(Lexeme lexeme, int root, int agreed) {
        int[] nodes = vocabulary.symbols().longerThan(agreed);
        path.begin(lexeme, root);
        int at = Arrays.binarySearch(nodes, root);
        for (int i = at < 0 ? -1 - at : at; i < nodes.length && nodes[i] < trie.end[root]; i++) {
            if (tokens.has(trie.token[nodes[i]])) {
                boolean isInside = path.at(nodes[i]) != null;
                for (int token = isInside ? -1 : trie.token[nodes[i]]; token >= 0; token = trie.nextSame[token]) {
                    tokens.remove(token);
                }
            }
        }
    }

    private boolean mayEnd(int node) {
        Lexeme end = path.at(node);
        return end != null && end.mayEnd();
    }
}
