package roselle.grammar.mask;

import java.util.HashMap;
import java.util.Map;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.SymbolClasses;

/**
 * What walks through the lexemes of one constraint found, from the root of the trie and from other nodes. A walk is the last resort:
 * most lexemes are another one with a bound or without some texts, or go on alike with the symbols of a {@link Slice}.
 */
final class LexemeMasks {
    private final Vocabulary vocabulary;
    private final TrieWalk walk;
    private final IdentityTable<Map<Integer, LexemeMask>> known = new IdentityTable<>(); // by node
    private long bytes;

    LexemeMasks(Vocabulary vocabulary, TrieWalk walk) {
        this.vocabulary = vocabulary;
        this.walk = walk;
    }

    /** The tokens below a node whose bytes from there on stay inside a lexeme, and its ends within them. */
    LexemeMask mask(Lexeme lexeme, int node) {
        if (lexeme.isShared()) {
            return vocabulary.sharedMask(lexeme, node, walk);
        }
        Map<Integer, LexemeMask> byNode = known.find(lexeme);
        if (byNode == null) {
            byNode = new HashMap<>(2);
            known.add(lexeme, byNode);
        }
        LexemeMask found = byNode.get(node);
        if (found == null) {
            found = make(lexeme, node);
            byNode.put(node, found);
            bytes += found.bytes();
        }
        return found;
    }

    private LexemeMask make(Lexeme lexeme, int node) {
        Lexeme unbounded = lexeme.unbounded();
        if (unbounded != null && node == 0) {
            return walk.bounded(mask(unbounded, 0), lexeme.minSymbols(), lexeme.maxSymbols());
        }
        Lexeme wider = lexeme.wider();
        if (wider != null) {
            return walk.without(mask(wider, node), lexeme, node);
        }
        Lexeme resembled = lexeme.resembled();
        if (resembled != null) {
            return walk.differing(mask(resembled, node), lexeme, resembled, node);
        }
        long run = node == 0 ? lexeme.run() : 0;
        boolean isWide = (run & SymbolClasses.WIDE) != 0;
        LexemeMask along = isWide ? walk.along(lexeme, vocabulary.slice(run)) : null;
        return along == null ? walk.inside(lexeme, node) : along;
    }

    /** Bytes that it takes. */
    long bytes() {
        return bytes;
    }

    void forget() {
        known.clear();
        bytes = 0;
    }
}
