package roselle.grammar.mask;

import java.util.Arrays;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;

/** The masks of lexemes that are others with bounds: what the bounds forbid is taken off. Not thread-safe. */
final class BoundedWalk {
    private static final int MANY = 8; // nodes that are asked about one by one take as long as to sort one

    private final Vocabulary vocabulary;
    private final TokenTrie trie;
    private SetBuilder tokens = SetBuilder.NONE; // lent for one mask
    private final LexemePath path;

    BoundedWalk(Vocabulary vocabulary) {
        this.vocabulary = vocabulary;
        this.trie = vocabulary.trie();
        this.path = new LexemePath(vocabulary);
    }

    /** Takes what a mask needs. */
    void take(Builders builders) {
        tokens = builders.next();
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
            ask(lexeme, root, longer(all.inside, root, agreed));
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

    /** The nodes below a root at which tokens with more symbols end, those of some tokens among them, in their order. */
    private int[] longer(TokenSet some, int root, int agreed) {
        NodeSymbols symbols = vocabulary.symbols();
        int[] nodes = symbols.longerThan(agreed);
        if (some.count() < nodes.length / MANY) {
            IntList found = new IntList();
            some.forEach(token -> {
                int node = symbols.nodeOf[token];
                if (symbols.symbols[node] > agreed) {
                    found.add(node);
                }
            });
            int[] few = found.toArray();
            Arrays.sort(few);
            return few;
        }
        int from = Arrays.binarySearch(nodes, root);
        int to = Arrays.binarySearch(nodes, trie.end[root]);
        return root == 0 ? nodes : Arrays.copyOfRange(nodes, from < 0 ? -1 - from : from, to < 0 ? -1 - to : to);
    }

    /** Takes off the tokens at some nodes that a lexeme does not allow below a root. */
    private void ask(Lexeme lexeme, int root, int[] nodes) {
        path.begin(lexeme, root);
        for (int node : nodes) {
            if (tokens.has(trie.token[node])) {
                boolean isInside = path.at(node) != null;
                for (int token = isInside ? -1 : trie.token[node]; token >= 0; token = trie.nextSame[token]) {
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
