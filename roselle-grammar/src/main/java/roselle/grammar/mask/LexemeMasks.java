package roselle.grammar.mask;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.SymbolClasses;
import roselle.grammar.automaton.Symbols;

/**
 * What walks through the lexemes of one constraint found, from the root of the trie and from other nodes. A walk is the last resort:
 * most lexemes are another one with bounds or without some texts, or go on alike with the symbols of a {@link Slice}.
 */
final class LexemeMasks {
    private final Vocabulary vocabulary;
    private final LexemeWalk walk;
    private final BoundedWalk bounds;
    private final IdentityTable<LexemeMask> ofRoot = new IdentityTable<>();
    private final IdentityTable<Map<Integer, LexemeMask>> ofOthers = new IdentityTable<>(); // by node
    private long bytes;

    LexemeMasks(Vocabulary vocabulary, LexemeWalk walk) {
        this.vocabulary = vocabulary;
        this.walk = walk;
        this.bounds = new BoundedWalk(vocabulary);
    }

    /** Takes what a mask needs. */
    void take(Builders builders) {
        bounds.take(builders);
    }

    /** The tokens below a node whose bytes from there on stay inside a lexeme, and its ends within them. */
    LexemeMask mask(Lexeme lexeme, int node) {
        if (lexeme.isShared()) {
            return vocabulary.sharedMask(lexeme, node, this::make);
        }
        if (node == 0) {
            LexemeMask found = ofRoot.find(lexeme);
            if (found == null) {
                found = make(lexeme, 0);
                ofRoot.add(lexeme, found);
                bytes += found.bytes();
            }
            return found;
        }
        Map<Integer, LexemeMask> byNode = ofOthers.find(lexeme);
        if (byNode == null) {
            byNode = new HashMap<>(2);
            ofOthers.add(lexeme, byNode);
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
        if (lexeme.texts() != null) {
            return walk.inside(lexeme, node);
        }
        Lexeme unbounded = lexeme.unbounded();
        if (unbounded != null && node == 0) {
            return bounds.bounded(mask(unbounded, 0), counts(unbounded), lexeme.minSymbols(), lexeme.maxSymbols());
        }
        Lexeme.Looser looser = lexeme.looser();
        if (looser != null && BoundedWalk.isKnown(looser, node)) {
            SymbolCounts counts = looser.unbounded() == null ? null : counts(looser.unbounded());
            return bounds.loosened(mask(looser.lexeme(), node), lexeme, looser, counts, node);
        }
        Lexeme wider = lexeme.wider();
        if (wider != null) {
            return walk.without(mask(wider, node), lexeme, node);
        }
        Lexeme resembled = lexeme.resembled();
        if (resembled != null) {
            return walk.differing(mask(resembled, node), lexeme, resembled, node);
        }
        LexemeMask byRun = byRun(lexeme, node);
        return byRun == null ? walk.inside(lexeme, node) : byRun;
    }

    private SymbolCounts counts(Lexeme unbounded) {
        return mask(unbounded, 0).counts(vocabulary, unbounded);
    }

    /** By the one lexeme that most symbols lead to; null where that does not help. */
    private @Nullable LexemeMask byRun(Lexeme lexeme, int node) {
        if (!walk.isLarge(node) || lexeme.loop().isWide()) {
            return null; // the walk knows what to do
        }
        long run = lexeme.run();
        if ((run & SymbolClasses.WIDE) == 0) {
            return null;
        }
        Lexeme behind = Objects.requireNonNull(lexeme.behind(run));
        if (behind.loop().isWide() && walk.areAlike(lexeme, behind, node)) {
            return walk.differing(mask(behind, node), lexeme, behind, node);
        }
        LexemeMask byClasses = walk.byClasses(lexeme, node);
        if (byClasses != null) {
            return byClasses;
        }
        return walk.along(lexeme, node, run, vocabulary.slice(Symbols.ofClasses(run)));
    }

    /** Bytes that it takes. */
    long bytes() {
        return bytes;
    }

    void forget() {
        ofRoot.clear();
        ofOthers.clear();
        bytes = 0;
    }
}
