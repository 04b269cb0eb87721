package roselle.tokenizer.model;

import java.util.function.IntConsumer;
import roselle.api.InvalidRequestException;

/**
 * Byte-pair encoding (Sennrich et al., 2016): a piece starts as one symbol per character, and of all neighbours that may
 * merge those of the lowest rank do, leftmost first, until none may.
 *
 * <p>One implementation for all kinds. Byte-level vocabularies get pieces respelled in {@link ByteAlphabet} on the way
 * in. SentencePiece vocabularies (with scores instead of merges) become merges whose rank is the place of the merged
 * token's score, see {@link BytePairBuilder}. As in Hugging Face's library, a merge that was queued stands as long as
 * what lies at its place would merge into the same token.
 *
 * <p>Cost: short pieces come from a cache; others are merged with a heap, long ones window by window, in time that is
 * linear but for the logarithm of the window, and no object per merge.
 */
final class BytePairModel implements Model {
    private static final int CACHED_PIECES = 1 << 15;
    private static final int MAXIMUM_SYMBOLS = 1 << 28;
    private static final int NONE = -1;

    private final Rules rules;
    private final WordCache cache = new WordCache(CACHED_PIECES);

    BytePairModel(Rules rules) {
        this.rules = rules;
    }

    @Override
    public void tokenize(String text, int start, int end, IdBuffer ids, IntConsumer during) {
        if (rules.wordMark() == 0) {
            tokenizeWord(text, start, end, ids, during);
            return;
        }
        char mark = rules.wordMark();
        int from = start;
        for (int i = start + 1; i < end; i++) {
            if (text.charAt(i) == mark && text.charAt(i - 1) != mark) {
                tokenizeWord(text, from, i, ids, during);
                from = i;
            }
        }
        tokenizeWord(text, from, end, ids, during);
    }

    @Override
    public boolean readsEveryByte() {
        if (!rules.byteAlphabet()) {
            return false;
        }
        for (int value = 0; value < 256; value++) {
            if (rules.vocabulary().find(String.valueOf(ByteAlphabet.character(value))) == NONE) {
                return false;
            }
        }
        return true;
    }

    private void tokenizeWord(String text, int start, int end, IdBuffer ids, IntConsumer during) {
        if (end - start > WordCache.LONGEST) {
            merge(text, start, end, ids, during);
        } else {
            appendShort(text, start, end, ids);
            during.accept(end - start);
        }
    }

    private void appendShort(String text, int start, int end, IdBuffer ids) {
        int hash = WordCache.hash(text, start, end);
        if (!cache.append(text, start, end, hash, ids)) {
            var fresh = new IdBuffer(end - start);
            merge(text, start, end, fresh, _ -> {});
            int[] found = fresh.toArray();
            cache.put(text.substring(start, end), hash, found);
            ids.addAll(found, 0, found.length);
        }
    }

    private void merge(String text, int start, int end, IdBuffer ids, IntConsumer during) {
        char[] characters;
        int size;
        if (rules.byteAlphabet()) {
            characters = new char[Math.multiplyExact(3, end - start)];
            size = ByteAlphabet.spell(text, start, end, characters);
        } else {
            size = end - start;
            characters = new char[size];
            text.getChars(start, end, characters, 0);
        }
        int whole = rules.ignoreMerges() ? rules.vocabulary().find(characters, 0, size) : NONE;
        if (whole != NONE) {
            ids.add(whole);
            return;
        }
        var symbols = new IdBuffer(size);
        rules.symbols().read(characters, size, symbols);
        mergeSymbols(symbols, ids, end - start, during);
    }

    /** Merges the symbols of so many characters until nothing does, and appends what is left. */
    private void mergeSymbols(IdBuffer symbols, IdBuffer ids, int characters, IntConsumer during) {
        int count = symbols.size();
        if (count > MAXIMUM_SYMBOLS) {
            throw new InvalidRequestException("a stretch of " + count + " characters without a cut is longer than the "
                    + MAXIMUM_SYMBOLS + " that can be tokenized: send shorter texts");
        }
        var merger = new SymbolMerger(rules.pairs(), rules.mergedOfRank(), Math.min(count, 2 * WindowedMerge.WINDOW));
        IdBuffer merged = count <= WindowedMerge.WINDOW
                ? whole(symbols, merger)
                : WindowedMerge.merge(symbols, merger, WindowedMerge.WINDOW, toCharacters(count, characters, during));
        for (int i = 0; i < merged.size(); i++) {
            rules.symbols().write(merged.id(i), ids);
        }
    }

    /** Hears how many of {@code symbols} are done, and tells how many more of {@code characters} that are about. */
    private static IntConsumer toCharacters(int symbols, int characters, IntConsumer during) {
        int[] told = new int[1];
        return done -> {
            int reached = (int) ((long) characters * done / symbols);
            during.accept(reached - told[0]);
            told[0] = reached;
        };
    }

    private static IdBuffer whole(IdBuffer symbols, SymbolMerger merger) {
        var merged = new IdBuffer(symbols.size());
        if (symbols.size() > 0) {
            merger.merge(symbols, 0, symbols.size());
            merger.appendTo(merged);
        }
        return merged;
    }

    /** What a byte-pair model is made of, for {@link BytePairBuilder}. */
    @SuppressWarnings("ArrayRecordComponent") // built once, read only here
    record Rules(
            Vocabulary vocabulary,
            PairTable pairs,
            int[] mergedOfRank,
            SymbolTable symbols,
            boolean byteAlphabet,
            boolean ignoreMerges,
            char wordMark) {}
}
