package roselle.grammar.mask;

import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.Symbols;
import roselle.tokenizer.Tokenizer;

/** The tokens that masks speak of, as a trie of their bytes; immutable and thread-safe, one for each model. */
public final class Vocabulary {
    private static final byte[] NOTHING = {};
    private static final long MAX_SLICE_BYTES = 64L << 20;
    private static final long MAX_SHARED_BYTES = 64L << 20;

    private final byte[][] tokens;
    private final int[] endTokens;
    private final TokenTrie trie;
    private final NodeSymbols symbols;
    private final ClassTrie classes;
    private final IdentityTable<LexemeMask> shared = new IdentityTable<>(); // of lexemes that all constraints share
    private final IdentityTable<Map<Integer, LexemeMask>> sharedBelow = new IdentityTable<>(); // the same by node
    private long sharedBytes; // of these, under their lock
    private final Map<Symbols, Slice> slices = new LinkedHashMap<>(64, 0.75f, true); // the least lately asked for first
    private final AtomicLong sliceBytes = new AtomicLong();
    private final MaskStore masks;
    private final Builders.Pool builders;
    private final FarTokens far;

    /**
     * A vocabulary.
     *
     * @param tokens the bytes of each id; empty where an id is never part of a constrained text
     * @param endTokens the ids that end an answer; allowed exactly where the text may end
     */
    public Vocabulary(byte[][] tokens, int[] endTokens) {
        this.tokens = new byte[tokens.length][];
        for (int id = 0; id < tokens.length; id++) {
            this.tokens[id] = tokens[id].clone();
        }
        this.endTokens = endTokens.clone();
        for (int id : endTokens) {
            this.tokens[id] = NOTHING;
        }
        this.trie = new TokenTrie(this.tokens);
        this.symbols = new NodeSymbols(trie);
        this.classes = new ClassTrie(trie, symbols);
        this.masks = new MaskStore(words());
        this.builders = new Builders.Pool(words());
        this.far = new FarTokens(this.tokens);
    }

    /** The vocabulary of a tokenizer; {@code size} is the number of logits, which may be larger than the tokenizer's. */
    public static Vocabulary of(Tokenizer tokenizer, int size, int[] endTokens) {
        byte[][] tokens = new byte[size][];
        Arrays.fill(tokens, NOTHING);
        for (int id = 0; id < Math.min(size, tokenizer.vocabularySize()); id++) {
            if (tokenizer.hasToken(id) && !tokenizer.isSpecial(id)) {
                tokens[id] = tokenizer.bytesOf(id);
            }
        }
        return new Vocabulary(tokens, endTokens);
    }

    /** Ids are 0 until this number. */
    public int size() {
        return tokens.length;
    }

    /** Whether an answer ends with this id. */
    public boolean isEnd(int id) {
        for (int end : endTokens) {
            if (end == id) {
                return true;
            }
        }
        return false;
    }

    int[] endTokens() {
        return endTokens;
    }

    byte[] bytes(int id) {
        return tokens[id];
    }

    TokenTrie trie() {
        return trie;
    }

    NodeSymbols symbols() {
        return symbols;
    }

    ClassTrie classes() {
        return classes;
    }

    /** The tokens of symbols of a set. */
    Slice slice(Symbols set) {
        synchronized (slices) {
            Slice known = slices.get(set);
            if (known == null) {
                known = new Slice(trie, symbols, set, words(), sliceBytes);
                dropSlices();
                slices.put(set, known);
            }
            return known;
        }
    }

    /** Forgets those least lately asked for until all take no more than they may; they grow while they are used. */
    private void dropSlices() {
        Iterator<Slice> eldest = slices.values().iterator();
        while (sliceBytes.get() > MAX_SLICE_BYTES && eldest.hasNext()) {
            eldest.next().drop();
            eldest.remove();
        }
    }

    Builders.Pool builders() {
        return builders;
    }

    FarTokens far() {
        return far;
    }

    MaskStore masks() {
        return masks;
    }

    /** Walks below a node of the trie. */
    interface Maker {
        LexemeMask make(Lexeme lexeme, int node);
    }

    /** What is known of a lexeme that all constraints share, for the tokens below a node by their bytes from there on. */
    LexemeMask sharedMask(Lexeme lexeme, int node, Maker maker) {
        LexemeMask found = knownShared(lexeme, node);
        if (found == null) {
            synchronized (shared) {
                found = knownShared(lexeme, node);
                if (found == null) {
                    found = made(lexeme, node, maker);
                    keepShared(lexeme, node, found);
                }
            }
        }
        return found;
    }

    private @Nullable LexemeMask knownShared(Lexeme lexeme, int node) {
        if (node == 0) {
            return shared.find(lexeme);
        }
        Map<Integer, LexemeMask> byNode = sharedBelow.find(lexeme);
        return byNode == null ? null : byNode.get(node);
    }

    private void keepShared(Lexeme lexeme, int node, LexemeMask made) {
        if (sharedBytes > MAX_SHARED_BYTES) {
            shared.clear();
            sharedBelow.clear();
            sharedBytes = 0;
        }
        sharedBytes += made.bytes();
        if (node == 0) {
            shared.add(lexeme, made);
            return;
        }
        Map<Integer, LexemeMask> byNode = sharedBelow.find(lexeme);
        if (byNode == null) {
            byNode = new ConcurrentHashMap<>(2);
            sharedBelow.add(lexeme, byNode);
        }
        byNode.put(node, made);
    }

    /** With what others would make lazily, because several threads will read it. */
    private LexemeMask made(Lexeme lexeme, int node, Maker maker) {
        LexemeMask made = maker.make(lexeme, node);
        made.ends.tails(trie);
        return made;
    }

    /** Words of a mask over all ids. */
    int words() {
        return (tokens.length + 63) >>> 6;
    }
}
