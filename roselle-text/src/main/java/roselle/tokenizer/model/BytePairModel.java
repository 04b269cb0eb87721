package roselle.tokenizer.model;

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
    public void tokenize(String text, int start, int end, IdBuffer ids) {
        if (rules.wordMark() == 0) {
            tokenizeWord(text, start, end, ids);
            return;
        }
        char mark = rules.wordMark();
        int from = start;
        for (int i = start + 1; i < end; i++) {
            if (text.charAt(i) == mark && text.charAt(i - 1) != mark) {
                tokenizeWord(text, from, i, ids);
                from = i;
            }
        }
        tokenizeWord(text, from, end, ids);
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

    private void tokenizeWord(String text, int start, int end, IdBuffer ids) {
        if (end - start > WordCache.LONGEST) {
            merge(text, start, end, ids);
            return;
        }
        int hash = WordCache.hash(text, start, end);
        if (!cache.append(text, start, end, hash, ids)) {
            var fresh = new IdBuffer(end - start);
            merge(text, start, end, fresh);
            int[] found = fresh.toArray();
            cache.put(text.substring(start, end), hash, found);
            ids.addAll(found, 0, found.length);
        }
    }

    private void merge(String text, int start, int end, IdBuffer ids) {
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
        mergeSymbols(symbols, ids);
    }

    /** Merges until nothing does, and appends what is left. */
    private void mergeSymbols(IdBuffer symbols, IdBuffer ids) {
        int count = symbols.size();
        if (count > MAXIMUM_SYMBOLS) {
            throw new InvalidRequestException("a stretch of " + count + " characters without a cut is longer than the "
                    + MAXIMUM_SYMBOLS + " that can be tokenized: send shorter texts");
        }
        var merger = new SymbolMerger(rules.pairs(), rules.mergedOfRank(), Math.min(count, 2 * WindowedMerge.WINDOW));
        IdBuffer merged = count <= WindowedMerge.WINDOW
                ? whole(symbols, merger)
                : WindowedMerge.merge(symbols, merger, WindowedMerge.WINDOW);
        for (int i = 0; i < merged.size(); i++) {
            rules.symbols().write(merged.id(i), ids);
        }
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
